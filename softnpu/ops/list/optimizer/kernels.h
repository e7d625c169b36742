#pragma once
// One step on contiguous values.

#include <cstddef>

namespace softnpu {

template <typename T>
struct AdamStep {
  T decay = 1;  // multiplies var first
  T beta1 = 0, beta2 = 0, epsilon = 0;
  T size = 0;        // step size
  T root_scale = 1;  // multiplies sqrt(v)
  bool nesterov = false;
  bool maximize = false;
};

// `max_v` may be null.
void adam_step(const AdamStep<float>& step, float* var, float* m, float* v, float* max_v, const float* grad,
               size_t count);
void adam_step(const AdamStep<double>& step, double* var, double* m, double* v, double* max_v, const double* grad,
               size_t count);

template <typename T>
struct SgdStep {
  T weight_decay = 0, momentum = 0, lr = 0, dampening = 0;
  T grad_scale = 1;  // gradients are divided by it
  bool nesterov = false;
  bool maximize = false;
  bool is_first = false;
};

// `momentum` may be null.
void sgd_step(const SgdStep<float>& step, float* var, float* grad, float* momentum, size_t count);
void sgd_step(const SgdStep<double>& step, double* var, double* grad, double* momentum, size_t count);

}  // namespace softnpu
