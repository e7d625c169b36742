// Elementwise operators invoked by type name.

#include <cmath>
#include <cstring>
#include <utility>

#include "acl/rt/device.h"
#include "ops/core/dtype.h"
#include "ops/core/iterate/view.h"
#include "ops/core/tensor_memory.h"
#include "ops/math/elementwise/operators.h"
#include "ops/registry/infer.h"
#include "ops/registry/invalid_call.h"
#include "ops/registry/registry.h"
#include "ops/registry/run_both.h"
#include "softnpu/overflow.h"

namespace softnpu {
namespace {

constexpr int64_t kStatusWords = 8;  // of an overflow status

template <MapOp op>
Status plan_unary(Operands& of, Plan* plan) {
  return unary(op, of.in(0), of.out(), plan);
}

template <MapOp op>
Status plan_floating(Operands& of, Plan* plan) {
  return floating(op, of.in(0), of.out(), plan);
}

template <MapOp op>
Status plan_binary(Operands& of, Plan* plan) {
  aclScalar a;
  aclScalar b;
  return binary(op, of.value(0, &a), of.value(1, &b), of.out(), plan);
}

// With the second operand's factor as an input, or 1.
template <MapOp op>
Status plan_scaled(Operands& of, Plan* plan) {
  aclScalar a;
  aclScalar b;
  const aclScalar scale = of.count() > 2 ? of.number(2) : integer_scalar(1);
  return binary(op, of.value(0, &a), of.value(1, &b), {&scale}, of.out(), plan);
}

// The number of the attribute `value`, for a tensor of `dtype`.
Status read_number(Operands& of, aclScalar* out) {
  const double value = of.real("value");
  *out = real_scalar(value);
  if (is_floating(of.dtype(0)) || is_complex(of.dtype(0))) return Status::ok();
  if (value != std::trunc(value) || std::abs(value) >= 0x1p53) {
    return invalid_call("the number of a tensor of integers is an integer");
  }
  *out = integer_scalar(static_cast<int64_t>(value));
  return Status::ok();
}

Status plan_add_number(Operands& of, Plan* plan) {
  aclScalar number;
  SOFTNPU_RETURN_IF_ERROR(read_number(of, &number));
  const aclScalar one = integer_scalar(1);
  return binary(MapOp::kAdd, of.in(0), number, {&one}, of.out(), plan);
}

Status plan_multiply_number(Operands& of, Plan* plan) {
  aclScalar number;
  SOFTNPU_RETURN_IF_ERROR(read_number(of, &number));
  return binary(MapOp::kMul, of.in(0), number, of.out(), plan);
}

// The sum of all inputs, in their order.
Status plan_sum_of_all(Operands& of, Plan* plan) {
  if (of.count() == 0) return invalid_call("no tensor is given");
  const aclScalar one = integer_scalar(1);
  if (of.count() == 1) return cast(of.in(0), of.out(), plan);
  Plan whole;
  SOFTNPU_RETURN_IF_ERROR(binary(MapOp::kAdd, of.in(0), of.in(1), {&one}, of.out(), &whole));
  for (size_t i = 2; i < of.count(); ++i) {
    Plan next;
    SOFTNPU_RETURN_IF_ERROR(binary(MapOp::kAdd, of.out(), of.in(i), {&one}, of.out(), &next));
    Plan both;
    run_both(std::move(whole), std::move(next), &both);
    whole = std::move(both);
  }
  *plan = std::move(whole);
  return Status::ok();
}

template <int32_t mode>
Status plan_divide(Operands& of, Plan* plan) {
  aclScalar a;
  aclScalar b;
  return divide(of.value(0, &a), of.value(1, &b), mode, of.out(), plan);
}

// Integers are divided as in C.
Status plan_quotient(Operands& of, Plan* plan) {
  const bool is_fraction = is_floating(of.out().dtype) || is_complex(of.out().dtype);
  return is_fraction ? plan_divide<0>(of, plan) : plan_binary<MapOp::kTruncDivide>(of, plan);
}

template <MapOp op>
Status plan_shift(Operands& of, Plan* plan) {
  aclScalar a;
  aclScalar b;
  return shift(op, of.value(0, &a), of.value(1, &b), of.out(), plan);
}

template <MapOp op>
Status plan_scaled_product(Operands& of, Plan* plan) {
  const aclScalar factor = of.number(3);
  return ternary(op, of.in(0), of.in(1), of.in(2), {&factor}, of.out(), plan);
}

Status plan_power(Operands& of, Plan* plan) {
  aclScalar a;
  aclScalar b;
  return power(of.value(0, &a), of.value(1, &b), of.out(), plan);
}

// log(scale x + shift) in the given base; a non-positive base means e. The official plug-in uses scale 1 and shift 0.
Status plan_log(Operands& of, Plan* plan) {
  const double base = of.real("base");
  if (of.real("scale") != 1 || of.real("shift") != 0) {
    return {ACL_ERROR_INVALID_PARAM, "a logarithm of x itself is implemented: scale 1, shift 0"};
  }
  if (base == 2) return floating(MapOp::kLog2, of.in(0), of.out(), plan);
  if (base == 10) return floating(MapOp::kLog10, of.in(0), of.out(), plan);
  if (base <= 0) return floating(MapOp::kLog, of.in(0), of.out(), plan);
  return {ACL_ERROR_INVALID_PARAM, "logarithms in the bases 2, 10 and e are implemented"};
}

Status plan_log_add_exp(Operands& of, Plan* plan) {
  const double base = of.real("base");
  if (base > 0 && base != 2) return {ACL_ERROR_INVALID_PARAM, "the bases 2 and e are implemented"};
  return floating_binary(base == 2 ? MapOp::kLogAddExp2 : MapOp::kLogAddExp, of.in(0), of.in(1), of.out(), plan);
}

Status plan_clamp(Operands& of, Plan* plan) {
  aclScalar min;
  aclScalar max;
  const MapInput low = of.value(1, &min);
  const MapInput high = of.value(2, &max);
  if (low.scalar != nullptr && high.scalar != nullptr) return clamp(of.in(0), low.scalar, high.scalar, of.out(), plan);
  if (low.tensor != nullptr && high.tensor != nullptr) return clamp(of.in(0), low.tensor, high.tensor, of.out(), plan);
  return {ACL_ERROR_INVALID_PARAM, "the bounds are two tensors or two numbers"};
}

Status plan_lerp(Operands& of, Plan* plan) {
  aclScalar weight;
  const MapInput by = of.value(2, &weight);
  if (by.scalar != nullptr) return binary(MapOp::kLerpBy, of.in(0), of.in(1), {by.scalar}, of.out(), plan);
  return ternary(MapOp::kLerp, of.in(0), of.in(1), by, {}, of.out(), plan);
}

Status plan_masked_fill(Operands& of, Plan* plan) {
  aclScalar number;
  return ternary(MapOp::kWhere, of.in(1), of.value(2, &number), of.in(0), {}, of.out(), plan);
}

template <MapOp op>
Status plan_shrink(Operands& of, Plan* plan) {
  const aclScalar lambda = of.scalar("lambd");
  return unary(op, of.in(0), {&lambda}, of.out(), plan);
}

Status plan_elu(Operands& of, Plan* plan) {
  const aclScalar alpha = of.scalar("alpha");
  const aclScalar scale = of.scalar("scale");
  const aclScalar input_scale = of.scalar("input_scale");
  return unary(MapOp::kElu, of.in(0), {&alpha, &scale, &input_scale}, of.out(), plan);
}

// Klambauer et al., 2017.
Status plan_selu(Operands& of, Plan* plan) {
  const aclScalar alpha = real_scalar(1.6732632423543772848170429916717);
  const aclScalar scale = real_scalar(1.0507009873554804934193349852946);
  const aclScalar one = real_scalar(1);
  return unary(MapOp::kElu, of.in(0), {&alpha, &scale, &one}, of.out(), plan);
}

Status plan_swish(Operands& of, Plan* plan) {
  if (of.real("scale") != 1) return {ACL_ERROR_INVALID_PARAM, "the scale 1 is implemented"};
  return unary(MapOp::kSilu, of.in(0), of.out(), plan);
}

Status plan_leaky_relu(Operands& of, Plan* plan) {
  const aclScalar slope = of.scalar("negative_slope");
  return unary(MapOp::kLeakyRelu, of.in(0), {&slope}, of.out(), plan);
}

Status plan_softplus(Operands& of, Plan* plan) {
  const aclScalar beta = of.scalar("beta");
  const aclScalar threshold = of.scalar("threshold");
  return unary(MapOp::kSoftplus, of.in(0), {&beta, &threshold}, of.out(), plan);
}

Status plan_threshold(Operands& of, Plan* plan) {
  const aclScalar threshold = of.scalar("threshold");
  const aclScalar value = of.scalar("value");
  return unary(MapOp::kThreshold, of.in(0), {&threshold, &value}, of.out(), plan);
}

// The device's overflow flag, in the first of eight words.
Status float_status(aclDataType dtype, aclTensor& data) { return sized(ints({kStatusWords}), dtype, data); }

// Plans what happens to the flag of the calling thread's device: it is written into `status`, or cleared.
Status plan_flag(const aclTensor* status, bool clears, Plan* plan) {
  int32_t device = 0;
  if (aclrtGetDevice(&device) != ACL_SUCCESS) return {ACLNN_ERR_PARAM_INVALID, "the calling thread has no device"};
  void* words = nullptr;
  if (status != nullptr) {
    SOFTNPU_RETURN_IF_ERROR(tensor_memory(*status, "data", &words));
    if (element_count(*status) != kStatusWords || !is_dense(*status)) {
      return invalid_call("the status has eight words without gaps");
    }
  }
  const bool is_float = status != nullptr && status->dtype == ACL_FLOAT;
  plan->work = 0;
  plan->run = [device, clears, words, is_float](void* /*workspace*/) {
    if (clears) softnpuClearOverflow(device);
    if (words == nullptr) return Status::ok();
    const bool is_raised = !clears && softnpuGetOverflow(device) != 0;
    std::memset(words, 0, kStatusWords * sizeof(float));
    if (is_float) {
      static_cast<float*>(words)[0] = is_raised ? 1.0F : 0.0F;
    } else {
      static_cast<int32_t*>(words)[0] = is_raised ? 1 : 0;
    }
    return Status::ok();
  };
  return Status::ok();
}
Status plan_get_status(Operands& of, Plan* plan) { return plan_flag(&of.out(), false, plan); }
Status plan_clear_status(Operands& of, Plan* plan) { return plan_flag(&of.out(), true, plan); }
Status plan_clear_flag(Operands& /*of*/, Plan* plan) { return plan_flag(nullptr, true, plan); }

}  // namespace

}  // namespace softnpu

#include "opgen/rows_elementwise.inc"
