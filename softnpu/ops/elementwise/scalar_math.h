#pragma once
// Functions computed one value at a time, and what they share with the vector kernels.

#include <cmath>
#include <cstddef>
#include <numbers>

#include "ops/elementwise/map_op.h"

namespace softnpu {

// gelu with tanh: x / 2 (1 + tanh(scale (x + cube x^3))); Hendrycks and Gimpel, 2016.
inline constexpr double kGeluScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
inline constexpr double kGeluCube = 0.044715;

template <typename T>
T gelu_tanh(T x) {
  return x * T(0.5) * (1 + std::tanh(T(kGeluScale) * (x + T(kGeluCube) * x * x * x)));
}

// F::scalar(a) for each value.
template <typename F, typename T>
MapKernel scalar_kernel1() {
  return [](void* out, const void* const* in, size_t count, const void*) {
    const auto* a = static_cast<const T*>(in[0]);
    auto* y = static_cast<T*>(out);
    for (size_t i = 0; i < count; ++i) y[i] = F::scalar(a[i]);
  };
}

// The functions that have no vector kernel.
MapKernel scalar_kernel(MapOp op, Wide wide);

}  // namespace softnpu
