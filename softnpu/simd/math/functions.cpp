#include "simd/math/functions.h"

#include <initializer_list>

#include "simd/math/scalar_math.h"

namespace softnpu {
namespace {

// Null if there is no kernel for float32 alone.
MathKernel float32_kernel(MathFunction function) {
  for (const auto kernel_of : {&float_math_kernel, &trigonometry_kernel, &hyperbolic_kernel, &power_kernel,
                               &remainder_kernel, &erfc_kernel, &activation_kernel}) {
    if (MathKernel kernel = kernel_of(function)) return kernel;
  }
  return nullptr;
}

}  // namespace

MathKernel math_kernel(MathFunction function, FloatType type) {
  if (type == FloatType::kF32) {
    if (MathKernel kernel = float32_kernel(function)) return kernel;
  }
  if (MathKernel kernel = elementary_kernel(function, type)) return kernel;
  return type == FloatType::kF64 ? scalar_kernel(function) : nullptr;
}

}  // namespace softnpu
