#pragma once
// Float32 products of many rows on CPUs for which oneDNN has no kernel with packed weights (AVX2 without AVX-512): the
// second factor is packed into panels, which are cached if it is a weight.

#include "nnopbase/executor.h"
#include "ops/blas/matmul/problem.h"
#include "ops/core/tuning/attempt.h"

namespace softnpu {

// No size of the problem is 0.
Attempt<Plan> plan_panel_matmul(const MatmulProblem& problem);

}  // namespace softnpu
