#include "ops/list/optimizer/kernels.h"

#include <cmath>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/list/optimizer/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// The compiler vectorises these loops: iterations are independent, and tensors overlap element for element or not at
// all.
template <bool kNesterov, bool kMax, typename T>
HWY_INLINE void adam_loop(const AdamStep<T>& step, T* var, T* m, T* v, T* max_v, const T* grad, size_t count) {
  const T sign = step.maximize ? T(-1) : T(1);
  const T decay = step.decay, beta1 = step.beta1, beta2 = step.beta2, epsilon = step.epsilon;
  const T size = step.size, root_scale = step.root_scale;
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    const T g = sign * grad[i];
    const T moment = beta1 * m[i] + (1 - beta1) * g;
    const T square = beta2 * v[i] + (1 - beta2) * g * g;
    m[i] = moment;
    v[i] = square;
    T under = square;
    if constexpr (kMax) {
      under = max_v[i] > square ? max_v[i] : square;
      max_v[i] = under;
    }
    const T ahead = kNesterov ? beta1 * moment + (1 - beta1) * g : moment;
    var[i] = decay * var[i] - size * ahead / (root_scale * std::sqrt(under) + epsilon);
  }
}

template <typename T>
HWY_INLINE void adam(const AdamStep<T>& step, T* var, T* m, T* v, T* max_v, const T* grad, size_t count) {
  if (max_v != nullptr) return adam_loop<false, true>(step, var, m, v, max_v, grad, count);
  if (step.nesterov) return adam_loop<true, false>(step, var, m, v, max_v, grad, count);
  adam_loop<false, false>(step, var, m, v, max_v, grad, count);
}

template <bool kMomentum, bool kScaled, typename T>
HWY_INLINE void sgd_loop(const SgdStep<T>& step, T* var, T* grad, T* momentum, size_t count) {
  const T sign = step.maximize ? T(-1) : T(1);
  const T keep = step.is_first ? T(0) : step.momentum;
  const T take = step.is_first ? T(1) : 1 - step.dampening;
  const bool is_first = step.is_first, nesterov = step.nesterov;
  const T decay = step.weight_decay, mass = step.momentum, lr = step.lr, scale = step.grad_scale;
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    T g = grad[i];
    if constexpr (kScaled) {
      g /= scale;
      grad[i] = g;
    }
    g = sign * g + decay * var[i];
    if constexpr (kMomentum) {
      const T before = is_first ? T(0) : momentum[i];  // the contents of a new buffer are ignored
      const T buffer = keep * before + take * g;
      momentum[i] = buffer;
      g = nesterov ? g + mass * buffer : buffer;
    }
    var[i] -= lr * g;
  }
}

template <typename T>
HWY_INLINE void sgd(const SgdStep<T>& step, T* var, T* grad, T* momentum, size_t count) {
  const bool scaled = step.grad_scale != 1;
  if (momentum != nullptr) {
    if (scaled) return sgd_loop<true, true>(step, var, grad, momentum, count);
    return sgd_loop<true, false>(step, var, grad, momentum, count);
  }
  if (scaled) return sgd_loop<false, true>(step, var, grad, momentum, count);
  sgd_loop<false, false>(step, var, grad, momentum, count);
}

void adam_floats(const AdamStep<float>& step, float* var, float* m, float* v, float* max_v, const float* grad,
                 size_t count) {
  adam(step, var, m, v, max_v, grad, count);
}
void adam_doubles(const AdamStep<double>& step, double* var, double* m, double* v, double* max_v, const double* grad,
                  size_t count) {
  adam(step, var, m, v, max_v, grad, count);
}
void sgd_floats(const SgdStep<float>& step, float* var, float* grad, float* momentum, size_t count) {
  sgd(step, var, grad, momentum, count);
}
void sgd_doubles(const SgdStep<double>& step, double* var, double* grad, double* momentum, size_t count) {
  sgd(step, var, grad, momentum, count);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(adam_floats);
HWY_EXPORT(adam_doubles);
HWY_EXPORT(sgd_floats);
HWY_EXPORT(sgd_doubles);
}  // namespace

void adam_step(const AdamStep<float>& step, float* var, float* m, float* v, float* max_v, const float* grad,
               size_t count) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(adam_floats)(step, var, m, v, max_v, grad, count);
}
void adam_step(const AdamStep<double>& step, double* var, double* m, double* v, double* max_v, const double* grad,
               size_t count) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(adam_doubles)(step, var, m, v, max_v, grad, count);
}
void sgd_step(const SgdStep<float>& step, float* var, float* grad, float* momentum, size_t count) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(sgd_floats)(step, var, grad, momentum, count);
}
void sgd_step(const SgdStep<double>& step, double* var, double* grad, double* momentum, size_t count) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(sgd_doubles)(step, var, grad, momentum, count);
}

}  // namespace softnpu
#endif
