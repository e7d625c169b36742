#pragma once
// Where sampling by vectors serves: linear and nearest, float32 and float64, results and grids with even steps.

#include "ops/core/tuning/attempt.h"
#include "ops/nn/sampler/sampler.h"

namespace softnpu {

Attempt<Plan> plan_vector_sampler(const SamplerProblem& problem);
Attempt<Plan> plan_vector_sampler_backward(const SamplerProblem& problem, const Image& in_grad, const Image& grid_grad);

}  // namespace softnpu
