#pragma once
// Products of int8 matrices that are both contiguous along the sum: they are read in place, not packed.

#include <cstdint>

#include "ops/blas/gemm/gemm.h"

namespace softnpu {

// Rows of the left matrix or columns of the right one; `stride` in elements.
struct Int8Lines {
  const int8_t* data;
  int64_t stride;
};

// Gives the exact sums, modulo 2^32, of product `batch` to `sink`.
void int8_dots(const Int8Lines& rows, const Int8Lines& columns, const GemmSizes& sizes, int64_t batch,
               const GemmSink& sink, int threads);

}  // namespace softnpu
