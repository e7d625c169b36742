#pragma once
// The implementations that may serve a convolution or a gradient, and which one does.

#include <optional>

#include "ops/conv/step.h"

namespace softnpu {

// A step of float32, float16 or bfloat16 by the fixed rule (a product where the filter is 1 x 1, else Winograd's
// algorithm where it is allowed and pays, else oneDNN) or, where the work is timed, by the fastest. No size of the
// problem is 0. Nothing if none supports it.
std::optional<Step> choose_convolution(const ConvProblem& problem);

}  // namespace softnpu
