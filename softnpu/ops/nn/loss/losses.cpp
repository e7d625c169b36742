#include "ops/nn/loss/losses.h"

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/nn/loss/map_sum.h"

namespace softnpu {
namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

// The default for an omitted weight.
const aclScalar& one() {
  static const aclScalar value = [] {
    aclScalar result;
    result.dtype = ACL_DOUBLE;
    result.number = 1;
    return result;
  }();
  return value;
}

MapInput or_one(const aclTensor* weight) { return weight == nullptr ? MapInput(one()) : MapInput(*weight); }

double cost_of(LossOp op) {
  switch (op) {
    case LossOp::kSquare:
    case LossOp::kAbs:
    case LossOp::kSmooth:
    case LossOp::kSquareBackward:
    case LossOp::kAbsBackward:
    case LossOp::kSmoothBackward: return 1;
    default: return 8;
  }
}

Status mapping_of(LossOp op, std::initializer_list<MapInput> inputs, Mapping* mapping) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  for (const MapInput& input : inputs) {
    if (input.tensor == nullptr) continue;
    if (!is_known(input.tensor->dtype) || is_complex(input.tensor->dtype)) {
      return {ACLNN_ERR_PARAM_INVALID, text("a loss is of floating-point numbers, not of ", describe(*input.tensor))};
    }
    dtype = dtype == ACL_DT_UNDEFINED ? input.tensor->dtype : promote(dtype, input.tensor->dtype);
    if (dtype == ACL_DT_UNDEFINED) return {ACLNN_ERR_PARAM_INVALID, "the tensors have no common data type"};
  }
  if (is_integral(dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("a loss is of floating-point numbers, not of ", name_of(dtype))};
  }
  mapping->dtype = dtype;
  mapping->kernel = loss_kernel(op, compute_type_of(dtype));
  mapping->cost = cost_of(op);
  return Status::ok();
}

Status plan_loss(const Mapping& mapping, std::initializer_list<MapInput> inputs, int64_t reduction,
                 const aclTensor& out, Plan* plan) {
  switch (reduction) {
    case kNone: return plan_map(mapping, inputs, out, plan);
    case kMean:
    case kSum: return plan_map_sum(mapping, inputs, reduction == kMean, out, plan);
    default:
      return {ACLNN_ERR_PARAM_INVALID, text("reduction ", reduction, " does not exist: it is 0, 1 (mean) or 2 (sum)")};
  }
}

// The factor of a gradient: for a mean, 1 / the number of its terms, which is that of the result's elements.
Status plan_gradient(Mapping* mapping, std::initializer_list<MapInput> inputs, int64_t reduction, const aclTensor& out,
                     Plan* plan) {
  if (reduction < kNone || reduction > kSum) {
    return {ACLNN_ERR_PARAM_INVALID, text("reduction ", reduction, " does not exist: it is 0, 1 (mean) or 2 (sum)")};
  }
  mapping->set(0, reduction == kMean ? 1 / static_cast<double>(element_count(out)) : 1.0);
  return plan_map(*mapping, inputs, out, plan);
}

Status check_beta(double beta) {
  if (beta >= 0) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("beta is ", beta, "; it may not be negative")};
}

}  // namespace

Status loss(LossOp op, const aclTensor& self, const aclTensor& target, int64_t reduction, const aclTensor& out,
            Plan* plan) {
  Mapping mapping;
  SOFTNPU_RETURN_IF_ERROR(mapping_of(op, {self, target}, &mapping));
  return plan_loss(mapping, {self, target}, reduction, out, plan);
}

Status loss_gradient(LossOp op, const aclTensor& grad, const aclTensor& self, const aclTensor& target,
                     int64_t reduction, const aclTensor& out, Plan* plan) {
  Mapping mapping;
  SOFTNPU_RETURN_IF_ERROR(mapping_of(op, {self, target}, &mapping));
  return plan_gradient(&mapping, {grad, self, target}, reduction, out, plan);
}

Status smooth_loss(const aclTensor& self, const aclTensor& target, int64_t reduction, double beta, const aclTensor& out,
                   Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_beta(beta));
  Mapping mapping;
  SOFTNPU_RETURN_IF_ERROR(mapping_of(LossOp::kSmooth, {self, target}, &mapping));
  mapping.set(0, beta);
  return plan_loss(mapping, {self, target}, reduction, out, plan);
}

Status smooth_loss_gradient(const aclTensor& grad, const aclTensor& self, const aclTensor& target, int64_t reduction,
                            double beta, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_beta(beta));
  // Without a parabola: the gradient of
  // a - b
  // , 0 at 0.
  if (beta == 0) return loss_gradient(LossOp::kAbsBackward, grad, self, target, reduction, out, plan);
  Mapping mapping;
  SOFTNPU_RETURN_IF_ERROR(mapping_of(LossOp::kSmoothBackward, {self, target}, &mapping));
  mapping.set(1, beta);
  return plan_gradient(&mapping, {grad, self, target}, reduction, out, plan);
}

Status entropy_loss(const aclTensor& self, const aclTensor& target, const aclTensor* weight, int64_t reduction,
                    const aclTensor& out, Plan* plan) {
  Mapping mapping;
  SOFTNPU_RETURN_IF_ERROR(mapping_of(LossOp::kEntropy, {self, target}, &mapping));
  return plan_loss(mapping, {self, target, or_one(weight)}, reduction, out, plan);
}

Status entropy_loss_gradient(const aclTensor& grad, const aclTensor& self, const aclTensor& target,
                             const aclTensor* weight, int64_t reduction, const aclTensor& out, Plan* plan) {
  Mapping mapping;
  SOFTNPU_RETURN_IF_ERROR(mapping_of(LossOp::kEntropyBackward, {self, target}, &mapping));
  return plan_gradient(&mapping, {grad, self, target, or_one(weight)}, reduction, out, plan);
}

Status logit_entropy_loss(const aclTensor& self, const aclTensor& target, const aclTensor* weight,
                          const aclTensor* pos_weight, int64_t reduction, const aclTensor& out, Plan* plan) {
  Mapping mapping;
  SOFTNPU_RETURN_IF_ERROR(mapping_of(LossOp::kLogitEntropy, {self, target}, &mapping));
  return plan_loss(mapping, {self, target, or_one(weight), or_one(pos_weight)}, reduction, out, plan);
}

Status logit_entropy_loss_gradient(const aclTensor& grad, const aclTensor& self, const aclTensor& target,
                                   const aclTensor* weight, const aclTensor* pos_weight, int64_t reduction,
                                   const aclTensor& out, Plan* plan) {
  Mapping mapping;
  SOFTNPU_RETURN_IF_ERROR(mapping_of(LossOp::kLogitEntropyBackward, {self, target}, &mapping));
  return plan_gradient(&mapping, {grad, self, target, or_one(weight), or_one(pos_weight)}, reduction, out, plan);
}

}  // namespace softnpu
