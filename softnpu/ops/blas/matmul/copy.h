#pragma once

#include "ops/blas/matmul/problem.h"

namespace softnpu {

// to = from, element by element, with conversion of the dtype. Both have the same sizes.
void copy_matrices(const Dims& batch, const GemmOperand& to, const GemmOperand& from, int threads);

}  // namespace softnpu
