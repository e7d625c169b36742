#pragma once
// The implementations that may serve a product, and which one does.

#include "nnopbase/plan.h"
#include "ops/matmul/problem.h"

namespace softnpu {

// A product of float32, float16 or bfloat16 by the fixed rule (directly where there are few rows, panels, else oneDNN)
// or, where the work is timed, by the fastest. No size of the problem is 0, and oneDNN supports it.
Plan choose_product(const MatmulProblem& problem);

}  // namespace softnpu
