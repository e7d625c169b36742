#pragma once
// The algorithms for a product of matrices, and which one serves it.

#include <array>

#include "nnopbase/plan.h"
#include "opgen/onednn_present.h"
#include "ops/blas/matmul/direct.h"
#include "ops/blas/matmul/onednn.h"
#include "ops/blas/matmul/panels.h"
#include "ops/blas/matmul/reference.h"
#include "ops/core/tuning/algorithm.h"

namespace softnpu {

using ProductAlgorithm = Algorithm<MatmulProblem, Plan>;

// Best first.
inline constexpr std::array kProductAlgorithms = {
    ProductAlgorithm{"direct", &plan_direct_matmul, Use::kByRule},
    ProductAlgorithm{"panels", &plan_panel_matmul},
#if SOFTNPU_HAS_ONEDNN
    ProductAlgorithm{"oneDNN", &plan_onednn_matmul},
    ProductAlgorithm{"oneDNN, a thread for each matrix", &plan_matrices_apart, Use::kByTime},
    ProductAlgorithm{"bfloat16 products", &plan_split_matmul, Use::kByTime, true},
#endif
    ProductAlgorithm{"reference", &plan_reference_matmul, Use::kByRule},
};

// A product by the first row that serves it or, where the work is timed, by the fastest. The result is not empty.
Plan choose_product(const MatmulProblem& problem);
// The same by the first row in every case: for sizes that are known only when an operator runs.
Plan untimed_product(const MatmulProblem& problem);

}  // namespace softnpu
