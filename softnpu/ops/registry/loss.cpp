// Losses invoked by type name.

#include "ops/nn/loss/losses.h"
#include "ops/registry/operators.h"

namespace softnpu {
namespace {

// The planners' number: 0 none, 1 mean, 2 sum; -1, which they reject, for an unknown word.
int64_t reduction(Operands& of) {
  const std::string word = of.words("reduction", "mean");
  return word == "none" ? 0 : word == "mean" ? 1 : word == "sum" ? 2 : -1;
}

// (x, target)
template <LossOp op>
Status plan_loss(Operands& of, Plan* plan) {
  return loss(op, of.in(0), of.in(1), reduction(of), of.out(), plan);
}

// (gradient, x, target)
template <LossOp op>
Status plan_gradient(Operands& of, Plan* plan) {
  return loss_gradient(op, of.in(0), of.in(1), of.in(2), reduction(of), of.out(), plan);
}

// (x, target, gradient)
template <LossOp op>
Status plan_gradient_last(Operands& of, Plan* plan) {
  return loss_gradient(op, of.in(2), of.in(0), of.in(1), reduction(of), of.out(), plan);
}

// The sum of
// x - target
// ^p; the official plug-in supports only p = 1.
Status plan_power_loss(Operands& of, Plan* plan) {
  if (of.integer("p", 1) != 1) return {ACL_ERROR_INVALID_PARAM, "p = 1 is implemented"};
  return loss(LossOp::kAbs, of.in(0), of.in(1), reduction(of), of.out(), plan);
}

Status plan_divergence(Operands& of, Plan* plan) {
  const LossOp op = of.flag("log_target", false) ? LossOp::kLogDivergence : LossOp::kDivergence;
  return loss(op, of.in(0), of.in(1), reduction(of), of.out(), plan);
}

Status plan_divergence_gradient(Operands& of, Plan* plan) {
  const LossOp op = of.flag("log_target", false) ? LossOp::kLogDivergenceBackward : LossOp::kDivergenceBackward;
  return loss_gradient(op, of.in(0), of.in(1), of.in(2), reduction(of), of.out(), plan);
}

Status plan_nll(Operands& of, Plan* plan) {
  return nll_loss(of.in(0), of.in(1), of.maybe(2), reduction(of), of.integer("ignore_index", -100), of.out(0),
                  of.out(1), plan);
}

// (x, gradient, target, weight, total weight)
Status plan_nll_gradient(Operands& of, Plan* plan) {
  return nll_loss_gradient(of.in(1), of.in(0), of.in(2), of.maybe(3), reduction(of), of.integer("ignore_index", -100),
                           of.in(4), of.out(), plan);
}

}  // namespace

std::span<const PlannedType> loss_types() {
  static constexpr PlannedType kTypes[] = {
      {"BinaryCrossEntropy", "ttt?", 1,
       [](Operands& of, Plan* plan) {
         return entropy_loss(of.in(0), of.in(1), of.maybe(2), reduction(of), of.out(), plan);
       }},
      {"BinaryCrossEntropyGrad", "tttt?", 1,
       [](Operands& of, Plan* plan) {
         return entropy_loss_gradient(of.in(2), of.in(0), of.in(1), of.maybe(3), reduction(of), of.out(), plan);
       }},
      {"KLDiv", "tt", 1, &plan_divergence},
      {"KlDivLossGrad", "ttt", 1, &plan_divergence_gradient},
      {"L1LossGrad", "ttt", 1, &plan_gradient<LossOp::kAbsBackward>},
      {"LpLoss", "tt", 1, &plan_power_loss},
      {"MseLoss", "tt", 1, &plan_loss<LossOp::kSquare>},
      {"MseLossGrad", "ttt", 1, &plan_gradient_last<LossOp::kSquareBackward>},
      {"NLLLoss", "ttt?", 2, &plan_nll},
      {"NLLLossGrad", "tttt?t", 1, &plan_nll_gradient},
      {"SigmoidCrossEntropyWithLogitsGradV2", "tttt?t?", 1,
       [](Operands& of, Plan* plan) {
         return logit_entropy_loss_gradient(of.in(2), of.in(0), of.in(1), of.maybe(3), of.maybe(4), reduction(of),
                                            of.out(), plan);
       }},
      {"SigmoidCrossEntropyWithLogitsV2", "ttt?t?", 1,
       [](Operands& of, Plan* plan) {
         return logit_entropy_loss(of.in(0), of.in(1), of.maybe(2), of.maybe(3), reduction(of), of.out(), plan);
       }},
      {"SmoothL1LossGradV2", "ttt", 1,
       [](Operands& of, Plan* plan) {
         return smooth_loss_gradient(of.in(2), of.in(0), of.in(1), reduction(of), of.real("sigma", 1), of.out(), plan);
       }},
      {"SmoothL1LossV2", "tt", 1,
       [](Operands& of, Plan* plan) {
         return smooth_loss(of.in(0), of.in(1), reduction(of), of.real("sigma", 1), of.out(), plan);
       }},
      {"SoftMarginLoss", "tt", 1, &plan_loss<LossOp::kSoftMargin>},
      {"SoftMarginLossGrad", "ttt", 1, &plan_gradient_last<LossOp::kSoftMarginBackward>},
  };
  return kTypes;
}

}  // namespace softnpu
