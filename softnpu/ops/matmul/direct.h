#pragma once
// Products whose factors are read only once, or are small: packing, as in a library for large products, would cost more
// than the product.

#include <optional>

#include "nnopbase/executor.h"
#include "ops/matmul/problem.h"

namespace softnpu {

// The plan of a float32 product with few rows on one side, as in token-by-token decoding, or of small matrices. Nothing
// if another algorithm is better. No size of the problem is 0.
std::optional<Plan> plan_direct_matmul(const MatmulProblem& problem);

}  // namespace softnpu
