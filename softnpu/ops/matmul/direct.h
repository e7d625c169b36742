#pragma once
// Products whose factors are read once, or are small: packing them, as a library for large products does, costs more
// than the product.

#include <optional>

#include "nnopbase/executor.h"
#include "ops/matmul/problem.h"

namespace softnpu {

// The plan of a product in float32 with few rows on one side, as decoders make token by token, or of small matrices;
// nothing where another way is better. No size of the problem is 0.
std::optional<Plan> plan_direct_matmul(const MatmulProblem& problem);

}  // namespace softnpu
