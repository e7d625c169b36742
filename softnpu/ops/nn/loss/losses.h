#pragma once
// Planners for operators.txt. `reduction`: 0 none, 1 mean, 2 sum.

#include "nnopbase/executor.h"
#include "ops/nn/loss/functions.h"

namespace softnpu {

Status loss(LossOp op, const aclTensor& self, const aclTensor& target, int64_t reduction, const aclTensor& out,
            Plan* plan);
Status loss_gradient(LossOp op, const aclTensor& grad, const aclTensor& self, const aclTensor& target,
                     int64_t reduction, const aclTensor& out, Plan* plan);
Status smooth_loss(const aclTensor& self, const aclTensor& target, int64_t reduction, double beta, const aclTensor& out,
                   Plan* plan);
Status smooth_loss_gradient(const aclTensor& grad, const aclTensor& self, const aclTensor& target, int64_t reduction,
                            double beta, const aclTensor& out, Plan* plan);
Status entropy_loss(const aclTensor& self, const aclTensor& target, const aclTensor* weight, int64_t reduction,
                    const aclTensor& out, Plan* plan);
Status entropy_loss_gradient(const aclTensor& grad, const aclTensor& self, const aclTensor& target,
                             const aclTensor* weight, int64_t reduction, const aclTensor& out, Plan* plan);
Status logit_entropy_loss(const aclTensor& self, const aclTensor& target, const aclTensor* weight,
                          const aclTensor* pos_weight, int64_t reduction, const aclTensor& out, Plan* plan);
Status logit_entropy_loss_gradient(const aclTensor& grad, const aclTensor& self, const aclTensor& target,
                                   const aclTensor* weight, const aclTensor* pos_weight, int64_t reduction,
                                   const aclTensor& out, Plan* plan);

// The negative log-likelihood of classes: self[N, C, ...], target[N, ...], or self[C] with one target.
Status nll_loss(const aclTensor& self, const aclTensor& target, const aclTensor* weight, int64_t reduction,
                int64_t ignore_index, const aclTensor& out, const aclTensor& total_weight, Plan* plan);
Status nll_loss_gradient(const aclTensor& grad, const aclTensor& self, const aclTensor& target, const aclTensor* weight,
                         int64_t reduction, int64_t ignore_index, const aclTensor& total_weight, const aclTensor& out,
                         Plan* plan);

// torch.nn.functional.cross_entropy of values [N, C] and classes [N], with log_softmax as a second result. A target out
// of range is an error of the launch.
struct CrossEntropyAttributes {
  const char* reduction;  // none, mean or sum
  int64_t ignore_index;
  double smoothing;
  double square_scale;  // of zloss, which is not supported: 0
  bool wants_zloss;
};
Status cross_entropy(const CrossEntropyAttributes& attributes, const aclTensor& x, const aclTensor& target,
                     const aclTensor* weight, const aclTensor& loss, const aclTensor& log_prob, Plan* plan);
// Of values [N, C] and the classes' probabilities [N, C]: loss[N] = -sum(labels * log_softmax(x)), and its gradient
// softmax(x) - labels, which is that of labels whose sum is 1.
Status soft_cross_entropy(const aclTensor& x, const aclTensor& labels, const aclTensor& loss, const aclTensor& gradient,
                          Plan* plan);
Status cross_entropy_gradient(const CrossEntropyAttributes& attributes, const aclTensor& grad,
                              const aclTensor& log_prob, const aclTensor& target, const aclTensor* weight,
                              const aclTensor& dx, Plan* plan);

}  // namespace softnpu
