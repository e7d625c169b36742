// Losses invoked by type name.

#include "ops/nn/loss/losses.h"
#include "ops/registry/infer.h"
#include "ops/registry/registry.h"

namespace softnpu {
namespace {

// The planners' number: 0 none, 1 mean, 2 sum; -1, which they reject, for an unknown word.
int64_t reduction_number(const std::string& word) {
  return word == "none" ? 0 : word == "mean" ? 1 : word == "sum" ? 2 : -1;
}

// (x, target)
template <LossOp op>
Status plan_loss(Operands& of, Plan* plan) {
  return loss(op, of.in(0), of.in(1), reduction_number(of.words("reduction")), of.out(), plan);
}

// (gradient, x, target)
template <LossOp op>
Status plan_gradient(Operands& of, Plan* plan) {
  return loss_gradient(op, of.in(0), of.in(1), of.in(2), reduction_number(of.words("reduction")), of.out(), plan);
}

// (x, target, gradient)
template <LossOp op>
Status plan_gradient_last(Operands& of, Plan* plan) {
  return loss_gradient(op, of.in(2), of.in(0), of.in(1), reduction_number(of.words("reduction")), of.out(), plan);
}

// The sum of
// x - target
// ^p; the official plug-in supports only p = 1.
Status plan_power_loss(Operands& of, Plan* plan) {
  if (of.integer("p") != 1) return {ACL_ERROR_INVALID_PARAM, "p = 1 is implemented"};
  return loss(LossOp::kAbs, of.in(0), of.in(1), reduction_number(of.words("reduction")), of.out(), plan);
}

Status plan_divergence(Operands& of, Plan* plan) {
  const LossOp op = of.flag("log_target") ? LossOp::kLogDivergence : LossOp::kDivergence;
  return loss(op, of.in(0), of.in(1), reduction_number(of.words("reduction")), of.out(), plan);
}

Status plan_divergence_gradient(Operands& of, Plan* plan) {
  const LossOp op = of.flag("log_target") ? LossOp::kLogDivergenceBackward : LossOp::kDivergenceBackward;
  return loss_gradient(op, of.in(0), of.in(1), of.in(2), reduction_number(of.words("reduction")), of.out(), plan);
}

Status plan_nll(Operands& of, Plan* plan) {
  return nll_loss(of.in(0), of.in(1), of.maybe(2), reduction_number(of.words("reduction")), of.integer("ignore_index"),
                  of.out(0), of.out(1), plan);
}

// (x, gradient, target, weight, total weight)
Status plan_nll_gradient(Operands& of, Plan* plan) {
  return nll_loss_gradient(of.in(1), of.in(0), of.in(2), of.maybe(3), reduction_number(of.words("reduction")),
                           of.integer("ignore_index"), of.in(4), of.out(), plan);
}

// One number per target, or one for all.
Status picked_loss(const aclTensor& x, const aclTensor& target, const std::string& reduction, aclTensor& y,
                   aclTensor& total_weight) {
  SOFTNPU_RETURN_IF_ERROR(sized({}, x.dtype, total_weight));
  return reduction == "none" ? like(target, x.dtype, y) : sized({}, x.dtype, y);
}

}  // namespace

}  // namespace softnpu

#include "opgen/rows_loss.inc"
