#pragma once
// Products by softnpu's own kernel: every dtype, any strides.

#include "nnopbase/executor.h"
#include "ops/matmul/problem.h"
#include "ops/tuning/attempt.h"

namespace softnpu {

Attempt<Plan> plan_reference_matmul(const MatmulProblem& problem);

}  // namespace softnpu
