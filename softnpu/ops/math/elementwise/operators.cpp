#include "ops/math/elementwise/operators.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "ops/core/copy/strided_copy.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/math/elementwise/promotion.h"

namespace softnpu {
namespace {

Mapping mapping_of(MapOp op, aclDataType dtype) {
  Mapping mapping;
  mapping.keeps_number = traits_of(op).keeps_numbers;
  mapping.kernel = map_kernel(op, compute_type_of(dtype));
  if (dtype == ACL_BOOL) mapping.of_truths = truth_kernel(op);
  mapping.dtype = dtype;
  mapping.cost = traits_of(op).cost;
  return mapping;
}

Mapping mapping_of(MapOp op, aclDataType dtype, Constants constants) {
  Mapping mapping = mapping_of(op, dtype);
  size_t i = 0;
  for (const aclScalar* constant : constants) mapping.set(i++, *constant, traits_of(op).rounds_constants);
  return mapping;
}

aclScalar number(double value) {
  aclScalar scalar;
  scalar.dtype = ACL_DOUBLE;
  scalar.number = value;
  return scalar;
}

// Writes 1 of `dtype` for each element of `self`.
Status ones_like(const aclTensor& self, aclDataType dtype, const aclTensor& out, Plan* plan) {
  const aclScalar one = number(1);
  return plan_map(mapping_of(MapOp::kWhere, dtype), {self, one, one}, out, plan);
}

}  // namespace

Status unary(MapOp op, const aclTensor& self, const aclTensor& out, Plan* plan) {
  return unary(op, self, {}, out, plan);
}

Status unary(MapOp op, const aclTensor& self, Constants constants, const aclTensor& out, Plan* plan) {
  if (!is_known(self.dtype)) return unknown_type(self);
  return plan_map(mapping_of(op, self.dtype, constants), {self}, out, plan);
}

Status floating(MapOp op, const aclTensor& self, const aclTensor& out, Plan* plan) {
  return floating(op, self, {}, out, plan);
}

Status floating(MapOp op, const aclTensor& self, Constants constants, const aclTensor& out, Plan* plan) {
  if (!is_known(self.dtype)) return unknown_type(self);
  return plan_map(mapping_of(op, as_floating(self.dtype, out), constants), {self}, out, plan);
}

Status binary(MapOp op, MapInput self, MapInput other, const aclTensor& out, Plan* plan) {
  return binary(op, self, other, {}, out, plan);
}

Status binary(MapOp op, MapInput self, MapInput other, Constants constants, const aclTensor& out, Plan* plan) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  SOFTNPU_RETURN_IF_ERROR(promoted_type({self, other}, out, &dtype));
  return plan_map(mapping_of(op, dtype, constants), {self, other}, out, plan);
}

Status floating_binary(MapOp op, MapInput self, MapInput other, const aclTensor& out, Plan* plan) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  SOFTNPU_RETURN_IF_ERROR(promoted_type({self, other}, out, &dtype));
  return plan_map(mapping_of(op, as_floating(dtype, out)), {self, other}, out, plan);
}

Status ternary(MapOp op, MapInput a, MapInput b, MapInput c, Constants constants, const aclTensor& out, Plan* plan) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  SOFTNPU_RETURN_IF_ERROR(promoted_type({a, b, c}, out, &dtype));
  return plan_map(mapping_of(op, dtype, constants), {a, b, c}, out, plan);
}

Status gradient(MapOp op, const aclTensor& grad, const aclTensor& self, Constants constants, const aclTensor& out,
                Plan* plan) {
  return binary(op, grad, self, constants, out, plan);
}

// 0: the exact quotient, 1: rounded towards zero, 2: rounded down.
Status divide(MapInput self, MapInput other, int32_t mode, const aclTensor& out, Plan* plan) {
  switch (mode) {
    case 0: return floating_binary(MapOp::kDiv, self, other, out, plan);
    case 1: return binary(MapOp::kTruncDivide, self, other, out, plan);
    case 2: return binary(MapOp::kFloorDivide, self, other, out, plan);
    default:
      return {ACLNN_ERR_PARAM_INVALID,
              text("rounding mode ", mode, " does not exist: it is 0, 1 (trunc) or 2 (floor)")};
  }
}

Status power(MapInput self, MapInput exponent, const aclTensor& out, Plan* plan) {
  if (self.tensor != nullptr && exponent.scalar != nullptr && exponent.scalar->as_complex().imag() == 0) {
    aclDataType dtype = ACL_DT_UNDEFINED;
    SOFTNPU_RETURN_IF_ERROR(promoted_type({self, exponent}, out, &dtype));
    const double value = exponent.scalar->as_double();
    if (value == 0) return ones_like(*self.tensor, dtype, out, plan);
    if (value == 1) return plan_map(mapping_of(MapOp::kIdentity, dtype), {self}, out, plan);
    if (value == 2) return plan_map(mapping_of(MapOp::kSquare, dtype), {self}, out, plan);
    if (value == 3) return plan_map(mapping_of(MapOp::kCube, dtype), {self}, out, plan);
    if (!is_integral(dtype)) {
      if (value == -2) return plan_map(mapping_of(MapOp::kReciprocalSquare, dtype), {self}, out, plan);
      if (value == 0.5) return plan_map(mapping_of(MapOp::kSqrt, dtype), {self}, out, plan);
      if (value == -0.5) return plan_map(mapping_of(MapOp::kRsqrt, dtype), {self}, out, plan);
      if (value == -1) return plan_map(mapping_of(MapOp::kReciprocal, dtype), {self}, out, plan);
    }
  }
  return binary(MapOp::kPow, self, exponent, out, plan);
}

Status clamp(const aclTensor& self, const aclScalar* min, const aclScalar* max, const aclTensor& out, Plan* plan) {
  if (min == nullptr && max == nullptr) return {ACLNN_ERR_PARAM_NULLPTR, "min and max are null; one is needed"};
  if (!is_known(self.dtype)) return unknown_type(self);
  aclDataType dtype = self.dtype;
  for (const aclScalar* bound : {min, max}) {
    if (bound != nullptr) dtype = with_scalar(dtype, scalar_category(*bound), out);
  }
  if (min == nullptr) return plan_map(mapping_of(MapOp::kClampMax, dtype, {max}), {self}, out, plan);
  if (max == nullptr) return plan_map(mapping_of(MapOp::kClampMin, dtype, {min}), {self}, out, plan);
  return plan_map(mapping_of(MapOp::kClamp, dtype, {min, max}), {self}, out, plan);
}

Status clamp_min(const aclTensor& self, const aclScalar& min, const aclTensor& out, Plan* plan) {
  return clamp(self, &min, static_cast<const aclScalar*>(nullptr), out, plan);
}

Status clamp_max(const aclTensor& self, const aclScalar& max, const aclTensor& out, Plan* plan) {
  return clamp(self, static_cast<const aclScalar*>(nullptr), &max, out, plan);
}

Status clamp(const aclTensor& self, const aclTensor* min, const aclTensor* max, const aclTensor& out, Plan* plan) {
  if (min == nullptr && max == nullptr) return {ACLNN_ERR_PARAM_NULLPTR, "min and max are null; one is needed"};
  if (min == nullptr) return binary(MapOp::kMinimum, self, *max, out, plan);
  if (max == nullptr) return binary(MapOp::kMaximum, self, *min, out, plan);
  return ternary(MapOp::kClampTensor, self, *min, *max, {}, out, plan);
}

Status shift(MapOp op, MapInput self, MapInput other, const aclTensor& out, Plan* plan) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  SOFTNPU_RETURN_IF_ERROR(promoted_type({self, other}, out, &dtype));
  Mapping mapping = mapping_of(op, dtype);
  mapping.set(0, static_cast<double>(8 * aclDataTypeSize(dtype)));
  return plan_map(mapping, {self, other}, out, plan);
}

Status bitwise_not(const aclTensor& self, const aclTensor& out, Plan* plan) {
  return unary(self.dtype == ACL_BOOL ? MapOp::kLogicalNot : MapOp::kBitwiseNot, self, out, plan);
}

Status round_decimals(const aclTensor& self, int64_t decimals, const aclTensor& out, Plan* plan) {
  if (!is_known(self.dtype)) return unknown_type(self);
  if (is_integral(self.dtype) || decimals == 0) return unary(MapOp::kRound, self, out, plan);
  Mapping mapping = mapping_of(MapOp::kRoundDecimals, self.dtype);
  mapping.set(0, std::pow(10.0, static_cast<double>(std::abs(decimals))));
  mapping.set(1, decimals < 0 ? 1 : 0);
  return plan_map(mapping, {self}, out, plan);
}

Status nan_to_num(const aclTensor& self, float nan, float posinf, float neginf, const aclTensor& out, Plan* plan) {
  if (!is_known(self.dtype)) return unknown_type(self);
  Mapping mapping = mapping_of(MapOp::kNanToNum, self.dtype);
  mapping.set(0, nan);
  mapping.set(1, posinf);
  mapping.set(2, neginf);
  return plan_map(mapping, {self}, out, plan);
}

Status is_close(const aclTensor& self, const aclTensor& other, double rtol, double atol, bool equal_nan,
                const aclTensor& out, Plan* plan) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  SOFTNPU_RETURN_IF_ERROR(promoted_type({self, other}, out, &dtype));
  // Integers are close if they are equal, or if their distance as real numbers is within the tolerance.
  if (is_integral(dtype) && (rtol != 0 || atol != 0)) dtype = ACL_DOUBLE;
  Mapping mapping = mapping_of(MapOp::kIsClose, dtype);
  mapping.set(0, rtol);
  mapping.set(1, atol);
  mapping.set(2, equal_nan ? 1 : 0);
  return plan_map(mapping, {self, other}, out, plan);
}

Status logit(const aclTensor& self, double eps, const aclTensor& out, Plan* plan) {
  if (!is_known(self.dtype)) return unknown_type(self);
  Mapping mapping = mapping_of(MapOp::kLogit, as_floating(self.dtype, out));
  mapping.set(0, eps);
  return plan_map(mapping, {self}, out, plan);
}

Status logit_backward(const aclTensor& self, const aclTensor& grad, double eps, const aclTensor& out, Plan* plan) {
  if (!is_known(self.dtype)) return unknown_type(self);
  Mapping mapping = mapping_of(MapOp::kLogitBackward, self.dtype);
  mapping.set(0, eps);
  return plan_map(mapping, {grad, self}, out, plan);
}

Status gelu(const aclTensor& self, int64_t mode, const aclTensor& out, Plan* plan) {
  if (mode != 0 && mode != 1) {
    return {ACLNN_ERR_PARAM_INVALID, text("approximate mode ", mode, " does not exist: it is 0 (none) or 1 (tanh)")};
  }
  return unary(mode == 0 ? MapOp::kGelu : MapOp::kGeluTanh, self, out, plan);
}

Status gelu_backward(const aclTensor& grad, const aclTensor& self, const char* approximate, const aclTensor& out,
                     Plan* plan) {
  const bool tanh = std::strcmp(approximate, "tanh") == 0;
  if (!tanh && std::strcmp(approximate, "none") != 0) {
    return {ACLNN_ERR_PARAM_INVALID, text("approximate '", approximate, "' does not exist: it is 'none' or 'tanh'")};
  }
  return gradient(tanh ? MapOp::kGeluTanhBackward : MapOp::kGeluBackward, grad, self, {}, out, plan);
}

Status elu_backward(const aclTensor& grad, const aclScalar& alpha, const aclScalar& scale, const aclScalar& input_scale,
                    bool is_result, const aclTensor& self, const aclTensor& out, Plan* plan) {
  const MapOp op = is_result ? MapOp::kEluBackwardOfResult : MapOp::kEluBackward;
  return gradient(op, grad, self, {&alpha, &scale, &input_scale}, out, plan);
}

// elu(a) with its input scaled by 1 / alpha.
Status celu(const aclTensor& self, const aclScalar& alpha, const aclTensor& out, Plan* plan) {
  if (!is_known(self.dtype)) return unknown_type(self);
  if (alpha.as_double() == 0) return {ACLNN_ERR_PARAM_INVALID, "alpha is 0: celu divides by it"};
  Mapping mapping = mapping_of(MapOp::kElu, self.dtype);
  mapping.set(0, alpha);
  mapping.set(1, 1);
  mapping.set(2, 1 / alpha.as_double());
  return plan_map(mapping, {self}, out, plan);
}

Status leaky_relu_backward(const aclTensor& grad, const aclTensor& self, const aclScalar& slope, bool is_result,
                           const aclTensor& out, Plan* plan) {
  if (is_result && slope.as_double() < 0) {
    return {ACLNN_ERR_PARAM_INVALID, "the input's sign cannot be told from a result with a negative slope"};
  }
  return gradient(MapOp::kLeakyReluBackward, grad, self, {&slope}, out, plan);
}

Status fill(const aclTensor& self, double value, Plan* plan) { return fill(self, number(value), plan); }

Status fill(const aclTensor& self, const aclScalar& value, Plan* plan) {
  if (!is_known(self.dtype)) return unknown_type(self);
  return plan_map(mapping_of(MapOp::kIdentity, self.dtype), {value}, self, plan);
}

Status log_sigmoid_forward(const aclTensor& self, const aclTensor& out, const aclTensor&, Plan* plan) {
  return unary(MapOp::kLogSigmoid, self, out, plan);
}

Status where(const aclTensor& condition, const aclTensor& self, const aclTensor& other, const aclTensor& out,
             Plan* plan) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  SOFTNPU_RETURN_IF_ERROR(promoted_type({self, other}, out, &dtype));
  return plan_map(mapping_of(MapOp::kWhere, dtype), {condition, self, other}, out, plan);
}

Status masked_fill(const aclTensor& self, const aclTensor& mask, MapInput value, Plan* plan) {
  if (!is_known(self.dtype)) return unknown_type(self);
  return plan_map(mapping_of(MapOp::kWhere, self.dtype), {mask, value, self}, self, plan);
}

}  // namespace softnpu
