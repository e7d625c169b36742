#pragma once
// The algorithms for a convolution or a gradient, and which one serves it.

#include <array>

#include "opgen/onednn_present.h"
#include "ops/core/tuning/algorithm.h"
#include "ops/nn/conv/step.h"

namespace softnpu {

using ConvAlgorithm = Algorithm<ConvProblem, Step>;

Attempt<Step> winograd(const ConvProblem& problem);
Attempt<Step> split_convolution(const ConvProblem& problem);

// Best first.
inline constexpr std::array kConvAlgorithms = {
    ConvAlgorithm{"product", &pointwise_convolution},
    ConvAlgorithm{"planes", &plane_convolution},
#if SOFTNPU_HAS_ONEDNN
    ConvAlgorithm{"Winograd", &winograd, Use::kAlways, true},
    ConvAlgorithm{"oneDNN", &onednn_convolution},
    ConvAlgorithm{"bfloat16 products", &split_convolution, Use::kByTime, true},
#endif
    ConvAlgorithm{"reference", &reference_convolution, Use::kByRule},
};

// A step by the first row that serves the problem or, where the work is timed, by the fastest. The result is not empty.
Attempt<Step> choose_convolution(const ConvProblem& problem);

}  // namespace softnpu
