// Normalizations and softmax invoked by type name. They save a variance where aclnn saves rstd.

#include "ops/core/copy/strided_copy.h"
#include "ops/nn/norm/norms.h"
#include "ops/nn/softmax/softmax.h"
#include "ops/registry/infer.h"
#include "ops/registry/invalid_call.h"
#include "ops/registry/registry.h"
#include "ops/registry/run_both.h"

namespace softnpu {
namespace {

// Rows of the dimensions from begin_norm_axis on, which are also the weight's.
Status plan_layer_norm(bool saves_rstd, Operands& of, Plan* plan) {
  RowNorm norm;
  norm.length = element_count(of.in(1));
  norm.eps = of.real("epsilon");
  norm.x = &of.in(0);
  norm.weight = &of.in(1);
  norm.bias = &of.in(2);
  norm.y = &of.out(0);
  norm.mean = &of.out(1);
  (saves_rstd ? norm.rstd : norm.variance) = &of.out(2);
  return plan_row_norm(norm, plan);
}

// (gradient, x, variance, mean, weight) to the gradients of x, weight, bias. The official plug-in passes no epsilon.
Status plan_layer_norm_gradient(Operands& of, Plan* plan) {
  RowNormGradient norm;
  norm.length = element_count(of.in(4));
  norm.grad = &of.in(0);
  norm.x = &of.in(1);
  norm.rstd = &of.in(2);
  norm.is_variance = true;
  norm.eps = of.real("epsilon");
  norm.mean = &of.in(3);
  norm.weight = &of.in(4);
  norm.dx = &of.out(0);
  norm.dweight = &of.out(1);
  norm.dbias = &of.out(2);
  return plan_row_norm_gradient(norm, plan);
}

Status plan_evaluation(Operands& of, Plan* plan) {
  return batch_norm(of.in(0), &of.in(1), &of.in(2), &of.in(3), &of.in(4), false, 0, of.real("epsilon"), of.out(),
                    nullptr, nullptr, plan);
}

// Inference; the results beside y are the running statistics.
Status plan_batch_norm(Operands& of, Plan* plan) {
  const aclTensor* mean = of.maybe(3);
  const aclTensor* variance = of.maybe(4);
  if (of.flag("is_training") || mean == nullptr || variance == nullptr) {
    return invalid_call(
        "inference with a mean and a variance is implemented (is_training false); training is BNTrainingUpdate");
  }
  if (of.words("data_format") != "NCHW") return invalid_call("images [N, C, ..] are implemented");
  Plan whole;
  SOFTNPU_RETURN_IF_ERROR(batch_norm(of.in(0), &of.in(1), &of.in(2), mean, variance, false, 0, of.real("epsilon"),
                                     of.out(), nullptr, nullptr, &whole));
  for (size_t i = 1; i < 5; ++i) {
    Plan copy;
    SOFTNPU_RETURN_IF_ERROR(plan_copy(i % 2 == 1 ? *mean : *variance, of.out(i), &copy));
    Plan both;
    run_both(std::move(whole), std::move(copy), &both);
    whole = std::move(both);
  }
  *plan = std::move(whole);
  return Status::ok();
}

// (gradient, weight, running variance)
Status plan_evaluation_gradient(Operands& of, Plan* plan) {
  aclBoolArray mask;
  for (bool wanted : {true, false, false}) mask.values.push_back(wanted);
  // This gradient depends neither on the mean nor on x: the gradient tensor is passed as a placeholder for x.
  return batch_norm_gradient(of.in(0), of.in(0), &of.in(1), &of.in(2), &of.in(2), nullptr, nullptr, false,
                             of.real("epsilon"), mask, &of.out(), nullptr, nullptr, plan);
}

// (x, its sums, sums of its squares, weight, bias, running mean, running variance) to (y, running mean, running
// variance, mean, variance). The statistics are computed from x again, by a formula without cancellation.
Status plan_training(Operands& of, Plan* plan) {
  if (of.out(1).data != of.in(5).data || of.out(2).data != of.in(6).data) {
    return invalid_call("the running statistics are updated in place");
  }
  return batch_norm_of_batch(of.in(0), of.in(3), of.in(4), of.out(1), of.out(2), of.real("factor"), of.real("epsilon"),
                             of.out(0), of.out(3), of.out(4), plan);
}

// (gradient, x, mean, variance) to the gradients of weight and bias.
Status plan_training_sums(Operands& of, Plan* plan) {
  return batch_norm_of_batch_gradient(of.in(0), of.in(1), nullptr, of.in(2), of.in(3), of.real("epsilon"), nullptr,
                                      &of.out(0), &of.out(1), plan);
}

// (gradient, x, gradient of weight, gradient of bias, weight, mean, variance) to the gradient of x.
Status plan_training_gradient(Operands& of, Plan* plan) {
  return batch_norm_of_batch_gradient(of.in(0), of.in(1), &of.in(4), of.in(5), of.in(6), of.real("epsilon"), &of.out(),
                                      nullptr, nullptr, plan);
}

Status plan_softmax(bool log, Operands& of, Plan* plan) {
  const aclIntArray axes = of.integers("axes");
  if (axes.size() != 1) return invalid_call("softmax along one dimension is implemented");
  return softmax(log, of.in(0), axes[0], of.out(), plan);
}

Status plan_softmax_gradient(bool log, const char* name, const aclTensor& grad, const aclTensor& result, Operands& of,
                             Plan* plan) {
  const aclIntArray axes = of.integers(name);
  if (axes.size() != 1) return invalid_call("softmax along one dimension is implemented");
  return softmax_gradient(log, grad, result, axes[0], of.out(), plan);
}

}  // namespace

}  // namespace softnpu

#include "opgen/rows_norm.inc"
