#pragma once
// Products in float32, float16 and bfloat16 by oneDNN.

#include "nnopbase/executor.h"
#include "ops/blas/matmul/problem.h"
#include "ops/core/tuning/attempt.h"

namespace softnpu {

// Operands that oneDNN cannot use in place are copied to the workspace: to float32 if the CPU has no instructions for
// the dtype. Sums are in float32 in all cases. No size of the problem is 0.
Attempt<Plan> plan_onednn_matmul(const MatmulProblem& problem);
// The same with a thread for each matrix of the batch.
Attempt<Plan> plan_matrices_apart(const MatmulProblem& problem);
// The same for float32 factors split into bfloat16 parts (split.h).
Attempt<Plan> plan_split_matmul(const MatmulProblem& problem);

}  // namespace softnpu
