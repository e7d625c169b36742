#pragma once
// The algorithms for sampling and its gradients.

#include <array>

#include "ops/core/tuning/algorithm.h"
#include "ops/nn/sampler/sampler.h"

namespace softnpu {

// The gradients of `in` and of the grid to compute; one without memory is skipped.
struct SamplerGradients {
  const SamplerProblem& problem;
  const Image& in;
  const Image& grid;
};

// Linear and nearest, float32 and float64, results and grids with even steps.
Attempt<Plan> vector_sampler(const SamplerProblem& problem);
Attempt<Plan> vector_sampler_backward(const SamplerGradients& gradients);
Attempt<Plan> reference_sampler(const SamplerProblem& problem);
Attempt<Plan> reference_sampler_backward(const SamplerGradients& gradients);

// Best first.
inline constexpr std::array kSamplers = {
    Algorithm<SamplerProblem, Plan>{"vectors", &vector_sampler},
    Algorithm<SamplerProblem, Plan>{"reference", &reference_sampler},
};
inline constexpr std::array kGradientSamplers = {
    Algorithm<SamplerGradients, Plan>{"vectors", &vector_sampler_backward},
    Algorithm<SamplerGradients, Plan>{"reference", &reference_sampler_backward},
};

}  // namespace softnpu
