#pragma once
// Products in float32, float16 and bfloat16 by oneDNN.

#include "nnopbase/executor.h"
#include "ops/matmul/problem.h"

namespace softnpu {

// What oneDNN cannot take as it lies goes through dense copies in the workspace: float32 ones where the CPU has no
// instructions for the dtype. Sums are kept in float32 either way. No size of the problem is 0.
Plan plan_onednn_matmul(const MatmulProblem& problem);

}  // namespace softnpu
