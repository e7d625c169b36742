#pragma once
// Tiles of a product that is summed in float32, computed from the factors in place, without packing.

#include <cstddef>

#include "ops/core/dtype.h"

namespace softnpu {

constexpr size_t kDirectRows = 4;
constexpr size_t kDirectColumns = 64;

// Rows of one factor, in float32, and `columns` columns of the other, in the kernel's type, with the strides of their
// elements.
struct DirectTile {
  const float* a;
  ptrdiff_t a_row_stride;
  ptrdiff_t a_k_stride;
  size_t rows;  // at most kDirectRows
  const void* b;
  ptrdiff_t b_stride;
  size_t columns;  // at most kDirectColumns
  size_t k;
};

// sums[row * kDirectColumns + column] = the sum over k.
struct DirectKernels {
  // Both factors are contiguous along k: b_stride is the distance between columns.
  void (*along_k)(const DirectTile& tile, float* sums);
  // The second factor is contiguous along the columns: b_stride is the distance along k. Null for half precision.
  void (*along_columns)(const DirectTile& tile, float* sums);
};

// For a second factor of float32, float16 or bfloat16.
DirectKernels direct_kernels(aclDataType dtype);

}  // namespace softnpu
