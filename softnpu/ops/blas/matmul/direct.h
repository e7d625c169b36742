#pragma once
// Products whose factors are read only once, or are small: packing, as in a library for large products, would cost more
// than the product.

#include "nnopbase/executor.h"
#include "ops/blas/matmul/problem.h"
#include "ops/core/tuning/attempt.h"

namespace softnpu {

// The plan of a float32 product with few rows on one side, as in token-by-token decoding, or of small matrices. No
// size of the problem is 0.
Attempt<Plan> plan_direct_matmul(const MatmulProblem& problem);

}  // namespace softnpu
