#pragma once
// The algorithms for sampling and its gradients.

#include <array>

#include "ops/core/tuning/algorithm.h"
#include "ops/nn/grid_sample/grid_sample.h"

namespace softnpu {

// The gradients of `in` and of the grid to compute; one without memory is skipped.
struct GridSampleGradients {
  const GridSampleProblem& problem;
  const Image& in;
  const Image& grid;
};

// Linear and nearest, float32 and float64, results and grids with even steps.
Attempt<Plan> vector_grid_sample(const GridSampleProblem& problem);
Attempt<Plan> vector_grid_sample_backward(const GridSampleGradients& gradients);
Attempt<Plan> reference_grid_sample(const GridSampleProblem& problem);
Attempt<Plan> reference_grid_sample_backward(const GridSampleGradients& gradients);

// Best first.
inline constexpr std::array kSamplers = {
    Algorithm<GridSampleProblem, Plan>{"vectors", &vector_grid_sample},
    Algorithm<GridSampleProblem, Plan>{"reference", &reference_grid_sample},
};
inline constexpr std::array kGradientSamplers = {
    Algorithm<GridSampleGradients, Plan>{"vectors", &vector_grid_sample_backward},
    Algorithm<GridSampleGradients, Plan>{"reference", &reference_grid_sample_backward},
};

}  // namespace softnpu
