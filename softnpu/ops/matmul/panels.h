#pragma once
// Products in float32 of many rows on CPUs for which oneDNN has no kernel that takes packed weights (AVX2 without
// AVX-512): the second factor goes into panels, which are kept where it is a weight.

#include <optional>

#include "nnopbase/executor.h"
#include "ops/matmul/problem.h"

namespace softnpu {

// No value where oneDNN's way is as fast, or the only one. No size of the problem is 0.
std::optional<Plan> plan_panel_matmul(const MatmulProblem& problem);

}  // namespace softnpu
