#pragma once
// Products by softnpu's own kernel: every dtype, any strides.

#include "nnopbase/executor.h"
#include "ops/blas/matmul/problem.h"
#include "ops/core/tuning/attempt.h"

namespace softnpu {

Attempt<Plan> plan_reference_matmul(const MatmulProblem& problem);

}  // namespace softnpu
