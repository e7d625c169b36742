#pragma once
// Functions computed one value at a time, and constants shared with the vector kernels.

#include <cmath>
#include <cstddef>
#include <numbers>

#include "simd/math/functions.h"

namespace softnpu {

// gelu with tanh: x / 2 (1 + tanh(scale (x + cube x^3))); Hendrycks and Gimpel, 2016.
inline constexpr double kGeluScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
inline constexpr double kGeluCube = 0.044715;

template <typename T>
T gelu_tanh(T x) {
  return x * T(0.5) * (1 + std::tanh(T(kGeluScale) * (x + T(kGeluCube) * x * x * x)));
}

template <typename T>
T gelu(T x) {
  return x * T(0.5) * (1 + std::erf(x * (std::numbers::sqrt2_v<T> / 2)));
}

template <typename T>
T gelu_backward(T g, T x) {
  const T cdf = T(0.5) * (1 + std::erf(x * (std::numbers::sqrt2_v<T> / 2)));
  const T pdf = std::exp(x * x * T(-0.5)) * (std::numbers::inv_sqrtpi_v<T> * std::numbers::sqrt2_v<T> / 2);
  return g * (cdf + x * pdf);
}

template <typename T>
T silu_backward(T g, T x) {
  const T s = 1 / (1 + std::exp(-x));
  return g * s * (1 + x * (1 - s));
}

// The functions of float64 without a vector kernel; null for others.
MathKernel scalar_kernel(MathFunction function);

}  // namespace softnpu
