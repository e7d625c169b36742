#pragma once
// Planners for operators.txt. Each step is one pass over its tensors, computed in float32 (float64 if one tensor is
// float64), whatever their dtypes. The tensors of a step have one shape.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// All are written except the gradient. `max_v` may be null.
struct AdamTensors {
  const aclTensor& var;
  const aclTensor& m;
  const aclTensor& v;
  const aclTensor* max_v;
  const aclTensor& grad;
};

// Numbers in device memory. Some operators expect the powers of the previous step.
struct AdamAttributes {
  const aclTensor& beta1_power;
  const aclTensor& beta2_power;
  const aclTensor& lr;
  const aclTensor& beta1;
  const aclTensor& beta2;
  const aclTensor& epsilon;
};

struct AdamNumbers {
  double lr;
  double beta1;
  double beta2;
  double epsilon;
};

// Kingma and Ba, ICLR 2015, with epsilon added to the uncorrected root: var -= lr sqrt(1 - power2) / (1 - power1) m /
// (sqrt(v) + epsilon). With Nesterov's momentum m is replaced by beta1 m + (1 - beta1) grad.
Status apply_adam(const AdamTensors& tensors, const AdamAttributes& attributes, bool nesterov, Plan* plan);

// Loshchilov and Hutter, ICLR 2019, as torch.optim.AdamW. The powers are those before this step.
Status apply_adam_w(const AdamTensors& tensors, const AdamAttributes& attributes, const aclTensor& weight_decay,
                    bool amsgrad, bool maximize, Plan* plan);
// `step`: the number of steps before this one.
Status apply_adam_w(const AdamTensors& tensors, const aclTensor& step, const AdamNumbers& numbers, double weight_decay,
                    bool amsgrad, bool maximize, Plan* plan);

struct SgdNumbers {
  double weight_decay;
  double momentum;
  double lr;
  double dampening;
  bool nesterov;
  bool maximize;
  bool is_first_step;  // momentum is set to the gradient
};

// As torch.optim.SGD, for each parameter. With `grad_scale` the gradients are divided by it, in place.
// `momentum_buffers` may be null or empty if momentum is 0.
Status fused_sgd(const aclTensorList& params, const aclTensorList& grads, const aclTensorList* momentum_buffers,
                 const aclTensor* grad_scale, const SgdNumbers& numbers, Plan* plan);

// As torch.amp.GradScaler: shrinks if a value was infinite, grows after `interval` steps without one.
Status amp_update_scale(const aclTensor& scale, const aclTensor& tracker, const aclTensor& found_inf, double growth,
                        double backoff, int64_t interval, const aclTensor& new_scale, const aclTensor& new_tracker,
                        Plan* plan);

}  // namespace softnpu
