#pragma once
// Products of float32 matrices in a kernel's own memory.

#include "ops/blas/gemm/gemm.h"

namespace softnpu {

// Element (i, j) is data[i * row + j * column].
struct FloatMatrix {
  float* data;
  int64_t row;
  int64_t column = 1;

  FloatMatrix transposed() const { return {data, column, row}; }
};

// c[rows, columns] = a[rows, depth] @ b[depth, columns]; with `adds` it is added to c.
void multiply(const GemmSizes& sizes, const FloatMatrix& a, const FloatMatrix& b, const FloatMatrix& c, bool adds,
              int threads);

}  // namespace softnpu
