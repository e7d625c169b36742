#include "ops/math/reduce/operators.h"

#include <cmath>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/math/reduce/reduce.h"

namespace softnpu {
namespace {

constexpr double kExpensive = 8;

std::span<const int64_t> values_of(const aclIntArray* dims) {
  if (dims == nullptr) return {};
  return {dims->begin(), dims->size()};
}

Status known(aclDataType dtype) {
  if (is_known(dtype)) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("no operator computes with data type ", static_cast<int>(dtype))};
}

Status plan_over(const Reduction& reduction, const aclTensor& self, std::span<const int64_t> dims, bool keepdim,
                 const Results& results, Plan* plan) {
  std::vector<bool> marked;
  SOFTNPU_RETURN_IF_ERROR(marked_dims(self, dims, &marked));
  return plan_reduce(reduction, self, marked, keepdim, results, plan);
}

// Inputs, computation and results have one data type.
Reduction in_type(ReduceOp op, aclDataType dtype) {
  Reduction reduction;
  reduction.op = op;
  reduction.dtype = dtype;
  reduction.results = {dtype, dtype};
  return reduction;
}

// `dtype`, or the result's if it is undefined.
aclDataType stated(aclDataType dtype, const aclTensor& out) { return dtype == ACL_DT_UNDEFINED ? out.dtype : dtype; }

// The floating-point type for the input's values.
aclDataType floating_of(const aclTensor& self, const aclTensor& out) {
  if (!is_known(self.dtype) || !is_integral(self.dtype)) return self.dtype;
  return is_known(out.dtype) && is_floating(out.dtype) ? out.dtype : ACL_FLOAT;
}

int64_t length_of(const aclTensor& self, const std::vector<bool>& marked) {
  int64_t length = 1;
  for (size_t i = 0; i < self.dims.size(); ++i) length *= marked[i] ? self.dims[i] : 1;
  return length;
}

}  // namespace

Status reduce_sum(ReduceOp op, const aclTensor& self, const aclIntArray* dims, bool keepdim, aclDataType dtype,
                  const aclTensor& out, Plan* plan) {
  dtype = stated(dtype, out);
  SOFTNPU_RETURN_IF_ERROR(known(dtype));
  return plan_over(in_type(op, dtype), self, values_of(dims), keepdim, {&out}, plan);
}

Status reduce_mean(const aclTensor& self, const aclIntArray* dims, bool keepdim, aclDataType dtype,
                   const aclTensor& out, Plan* plan) {
  dtype = stated(dtype, out);
  SOFTNPU_RETURN_IF_ERROR(known(dtype));
  if (is_integral(dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("a mean is a floating-point or complex number, not ", name_of(dtype))};
  }
  std::vector<bool> marked;
  SOFTNPU_RETURN_IF_ERROR(marked_dims(self, values_of(dims), &marked));
  Reduction reduction = in_type(ReduceOp::kSum, dtype);
  reduction.constants[0] = static_cast<double>(length_of(self, marked));
  return plan_reduce(reduction, self, marked, keepdim, {&out}, plan);
}

Status reduce_prod(const aclTensor& self, aclDataType dtype, const aclTensor& out, Plan* plan) {
  return reduce_sum(ReduceOp::kProd, self, nullptr, false, dtype, out, plan);
}

Status reduce_prod(const aclTensor& self, int64_t dim, bool keepdim, aclDataType dtype, const aclTensor& out,
                   Plan* plan) {
  dtype = stated(dtype, out);
  SOFTNPU_RETURN_IF_ERROR(known(dtype));
  return plan_over(in_type(ReduceOp::kProd, dtype), self, {&dim, 1}, keepdim, {&out}, plan);
}

Status reduce_bools(ReduceOp op, const aclTensor& self, const aclIntArray* dims, bool keepdim, const aclTensor& out,
                    Plan* plan) {
  return plan_over(in_type(op, ACL_BOOL), self, values_of(dims), keepdim, {&out}, plan);
}

Status reduce_extreme(ReduceOp op, const aclTensor& self, const aclIntArray* dims, bool keepdim, const aclTensor& out,
                      Plan* plan) {
  Reduction reduction = in_type(op, self.dtype);
  reduction.needs_values = true;
  return plan_over(reduction, self, values_of(dims), keepdim, {&out}, plan);
}

Status reduce_extreme(ReduceOp op, const aclTensor& self, const aclTensor& out, Plan* plan) {
  return reduce_extreme(op, self, nullptr, false, out, plan);
}

namespace {

Status plan_minmax(const aclTensor& self, std::span<const int64_t> dims, bool keepdim, const aclTensor& min,
                   const aclTensor& max, Plan* plan) {
  Reduction reduction = in_type(ReduceOp::kMinMax, self.dtype);
  reduction.needs_values = true;
  return plan_over(reduction, self, dims, keepdim, {&min, &max}, plan);
}

Status plan_where(ReduceOp op, const aclTensor& self, int64_t dim, bool keepdim, const aclTensor* values,
                  const aclTensor* indices, Plan* plan) {
  Reduction reduction = in_type(op, self.dtype);
  reduction.results[1] = ACL_INT64;
  reduction.needs_values = true;
  return plan_over(reduction, self, {&dim, 1}, keepdim, {values, indices}, plan);
}

}  // namespace

Status reduce_minmax(const aclTensor& self, const aclIntArray* dims, bool keepdim, const aclTensor& min,
                     const aclTensor& max, Plan* plan) {
  return plan_minmax(self, values_of(dims), keepdim, min, max, plan);
}

Status reduce_minmax(const aclTensor& self, int64_t dim, bool keepdim, const aclTensor& min, const aclTensor& max,
                     Plan* plan) {
  return plan_minmax(self, {&dim, 1}, keepdim, min, max, plan);
}

Status reduce_minmax(const aclTensor& self, const aclTensor& min, const aclTensor& max, Plan* plan) {
  return plan_minmax(self, {}, false, min, max, plan);
}

Status reduce_where(ReduceOp op, const aclTensor& self, int64_t dim, bool keepdim, const aclTensor& values,
                    const aclTensor& indices, Plan* plan) {
  return plan_where(op, self, dim, keepdim, &values, &indices, plan);
}

Status reduce_index(ReduceOp op, const aclTensor& self, int64_t dim, bool keepdim, const aclTensor& indices,
                    Plan* plan) {
  return plan_where(op, self, dim, keepdim, nullptr, &indices, plan);
}

Status reduce_norm(const aclTensor& self, const aclScalar* p, const aclIntArray* dims, bool keepdim, aclDataType dtype,
                   const aclTensor& out, Plan* plan) {
  double order = p == nullptr ? 2 : p->as_double();
  if (std::isnan(order)) return {ACLNN_ERR_PARAM_INVALID, "the order of the norm is not a number"};
  // The norm of one element is its magnitude, whose power could overflow.
  const int64_t count = element_count(self);
  if (order != 0 && count > 0 && count == element_count(out)) order = 1;
  if (dtype == ACL_DT_UNDEFINED) dtype = self.dtype;
  SOFTNPU_RETURN_IF_ERROR(known(dtype));
  if (is_integral(dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("a norm is of floating-point or complex values, not of ", describe(self))};
  }
  Reduction reduction = in_type(ReduceOp::kPower, dtype);
  // For complex values a real `dtype` means complex numbers of its width.
  if (is_known(self.dtype) && is_complex(self.dtype)) reduction.dtype = is_complex(dtype) ? dtype : complex_of(dtype);
  reduction.results[0] = real_of(reduction.dtype);
  if (order == 0) {
    reduction.op = ReduceOp::kCount;
  } else if (order == 1) {
    reduction.op = ReduceOp::kAbsSum;
  } else if (order == 2) {
    reduction.op = ReduceOp::kSquareRoot;
  } else if (std::isinf(order)) {
    reduction.op = order > 0 ? ReduceOp::kAbsMax : ReduceOp::kAbsMin;
    reduction.needs_values = true;
  } else {
    reduction.constants[0] = order;
    reduction.cost = kExpensive;
    reduction.needs_values = order < 0;
  }
  return plan_over(reduction, self, values_of(dims), keepdim, {&out}, plan);
}

Status reduce_moments(bool root, const aclTensor& self, const aclIntArray* dims, int64_t correction, bool keepdim,
                      const aclTensor* variance, const aclTensor* mean, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(known(self.dtype));
  Reduction reduction = in_type(ReduceOp::kMoments, self.dtype);
  reduction.results[0] = real_of(self.dtype);
  reduction.constants = {static_cast<double>(correction), root ? 1.0 : 0.0};
  return plan_over(reduction, self, values_of(dims), keepdim, {variance, mean}, plan);
}

Status reduce_logsumexp(const aclTensor& self, const aclIntArray* dims, bool keepdim, const aclTensor& out,
                        Plan* plan) {
  Reduction reduction = in_type(ReduceOp::kLogSumExp, floating_of(self, out));
  reduction.cost = 4;
  return plan_over(reduction, self, values_of(dims), keepdim, {&out}, plan);
}

}  // namespace softnpu
