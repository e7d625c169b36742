// Gradients of elementwise operators invoked by type name.

#include "ops/math/elementwise/operators.h"
#include "ops/registry/operators.h"

namespace softnpu {
namespace {

// (gradient, the formula's argument)
template <MapOp op>
Status plan_gradient(Operands& of, Plan* plan) {
  return gradient(op, of.in(0), of.in(1), {}, of.out(), plan);
}

// The reverse order.
template <MapOp op>
Status plan_swapped(Operands& of, Plan* plan) {
  return gradient(op, of.in(1), of.in(0), {}, of.out(), plan);
}

template <MapOp op>
Status plan_with(Operands& of, const char* name, double fallback, Plan* plan) {
  const aclScalar constant = of.scalar(name, fallback);
  return gradient(op, of.in(0), of.in(1), {&constant}, of.out(), plan);
}

Status plan_elu_gradient(Operands& of, Plan* plan) {
  return elu_backward(of.in(0), of.scalar("alpha", 1), of.scalar("scale", 1), of.scalar("input_scale", 1),
                      of.flag("is_result", false), of.in(1), of.out(), plan);
}

Status plan_hardtanh_gradient(Operands& of, Plan* plan) {
  const aclScalar min = of.scalar("min_val", -1);
  const aclScalar max = of.scalar("max_val", 1);
  return gradient(MapOp::kHardtanhBackward, of.in(1), of.in(0), {&min, &max}, of.out(), plan);
}

Status plan_softplus_gradient(Operands& of, Plan* plan) {
  const aclScalar beta = of.scalar("beta", 1);
  const aclScalar threshold = of.scalar("threshold", 20);
  return gradient(MapOp::kSoftplusBackward, of.in(0), of.in(1), {&beta, &threshold}, of.out(), plan);
}

}  // namespace

std::span<const PlannedType> gradient_types() {
  static constexpr PlannedType kTypes[] = {
#include "opgen/typed_gradient.inc"
      {"EluGradV2", "tt", 1, &plan_elu_gradient},
      {"HardShrinkGrad", "tt", 1,
       [](Operands& of, Plan* plan) { return plan_with<MapOp::kHardshrinkBackward>(of, "lambd", 0.5, plan); }},
      {"HardtanhGrad", "tt", 1, &plan_hardtanh_gradient},
      {"LeakyReluGrad", "tt", 1,
       [](Operands& of, Plan* plan) { return plan_with<MapOp::kLeakyReluBackward>(of, "negative_slope", 0.01, plan); }},
      {"ReluGrad", "tt", 1,
       [](Operands& of, Plan* plan) {
         const aclScalar zero = real_scalar(0);
         return gradient(MapOp::kThresholdBackward, of.in(0), of.in(1), {&zero}, of.out(), plan);
       }},
      {"SoftShrinkGrad", "tt", 1,
       [](Operands& of, Plan* plan) { return plan_with<MapOp::kHardshrinkBackward>(of, "lambd", 0.5, plan); }},
      {"SoftplusV2Grad", "tt", 1, &plan_softplus_gradient},
      {"ThresholdGradV2D", "tt", 1,
       [](Operands& of, Plan* plan) { return plan_with<MapOp::kThresholdBackward>(of, "threshold", 0, plan); }},
  };
  return kTypes;
}

}  // namespace softnpu
