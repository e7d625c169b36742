#pragma once
// The functions that losses map their inputs by, in floating point, and their gradients.

#include "ops/elementwise/map.h"

namespace softnpu {

// a: the input, b: the target, c, d: further inputs; k0, k1: constants. Of gradients a is that of the loss, b the
// input, c the target, and k0 a factor.
enum class LossOp : uint8_t {
  kSquare,         // (a - b)^2
  kAbs,            // |a - b|
  kSmooth,         // |a - b|, and a parabola where that is below k0
  kEntropy,        // of probability a and target b, weight c
  kLogitEntropy,   // of sigmoid(a), weight c, d times as much for positives
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

// Null where `compute_type` is no floating-point type.
MapKernel loss_kernel(LossOp op, ComputeType compute_type);

}  // namespace softnpu
