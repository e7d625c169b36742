// Gradients of elementwise operators invoked by type name.

#include "ops/math/elementwise/operators.h"
#include "ops/registry/infer.h"
#include "ops/registry/registry.h"

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
Status plan_with(const char* name, Operands& of, Plan* plan) {
  const aclScalar constant = of.scalar(name);
  return gradient(op, of.in(0), of.in(1), {&constant}, of.out(), plan);
}

Status plan_elu_gradient(Operands& of, Plan* plan) {
  return elu_backward(of.in(0), of.scalar("alpha"), of.scalar("scale"), of.scalar("input_scale"), of.flag("is_result"),
                      of.in(1), of.out(), plan);
}

Status plan_hardtanh_gradient(Operands& of, Plan* plan) {
  const aclScalar min = of.scalar("min_val");
  const aclScalar max = of.scalar("max_val");
  return gradient(MapOp::kHardtanhBackward, of.in(1), of.in(0), {&min, &max}, of.out(), plan);
}

Status plan_softplus_gradient(Operands& of, Plan* plan) {
  const aclScalar beta = of.scalar("beta");
  const aclScalar threshold = of.scalar("threshold");
  return gradient(MapOp::kSoftplusBackward, of.in(0), of.in(1), {&beta, &threshold}, of.out(), plan);
}

Status plan_relu_gradient(Operands& of, Plan* plan) {
  const aclScalar zero = real_scalar(0);
  return gradient(MapOp::kThresholdBackward, of.in(0), of.in(1), {&zero}, of.out(), plan);
}

}  // namespace

}  // namespace softnpu

#include "opgen/rows_gradient.inc"
