#pragma once
// Products by softnpu's own kernel: every dtype, any strides.

#include "nnopbase/executor.h"
#include "ops/matmul/problem.h"

namespace softnpu {

Plan plan_reference_matmul(const MatmulProblem& problem);

}  // namespace softnpu
