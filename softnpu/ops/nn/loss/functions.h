#pragma once
// The elementwise functions of losses, in floating point, and their gradients.

#include "ops/math/elementwise/map.h"

namespace softnpu {

// a: input, b: target, c, d: further inputs; k0, k1: constants. For gradients: a is the loss's gradient, b the input, c
// the target, k0 a factor.
enum class LossOp : uint8_t {
  kSquare,         // (a - b)^2
  kAbs,            // |a - b|
  kSmooth,         // |a - b|; a parabola if that is below k0
  kEntropy,        // of probability a and target b, weight c
  kLogitEntropy,   // of sigmoid(a), with weight c, times d for positives
  kDivergence,     // b (log b - a)
  kLogDivergence,  // exp(b) (b - a)
  kSoftMargin,     // log(1 + exp(-a b))
  kSquareBackward,
  kAbsBackward,
  kSmoothBackward,        // k1: the parabola's width
  kEntropyBackward,       // d: the weight
  kLogitEntropyBackward,  // d: the weight, e: that of positives
  kDivergenceBackward,
  kLogDivergenceBackward,
  kDivergenceTargetBackward,
  kLogDivergenceTargetBackward,
  kSoftMarginBackward,
};

// Null if `compute_type` is not floating point.
MapKernel loss_kernel(LossOp op, ComputeType compute_type);

// The sum of `count` contiguous values, in float64.
using TotalKernel = double (*)(const void* values, size_t count);
// For values of a floating-point compute type.
TotalKernel total_kernel(ComputeType compute_type);

}  // namespace softnpu
