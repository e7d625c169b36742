#pragma once

#include "ops/matmul/matrices.h"

namespace softnpu {

// to = from, element by element, as a conversion of the dtypes has it. Both have the same sizes.
void copy_matrices(const Dims& batch, const Matrices& to, const Matrices& from, int threads);

}  // namespace softnpu
