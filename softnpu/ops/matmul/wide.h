#pragma once
// Products by softnpu's own kernel: every dtype, any strides.

#include "nnopbase/executor.h"
#include "ops/matmul/matrices.h"

namespace softnpu {

Plan plan_wide_matmul(const MatmulProblem& problem);

}  // namespace softnpu
