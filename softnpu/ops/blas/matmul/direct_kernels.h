#pragma once
// Tiles of a float32 product, computed from the factors in place, without packing.

#include <cstddef>

namespace softnpu {

constexpr size_t kDirectRows = 4;
constexpr size_t kDirectColumns = 64;

// Rows of one factor and `columns` columns of the other, with the strides of their elements.
struct DirectTile {
  const float* a;
  ptrdiff_t a_row_stride;
  ptrdiff_t a_k_stride;
  size_t rows;  // at most kDirectRows
  const float* b;
  ptrdiff_t b_stride;
  size_t columns;  // at most kDirectColumns
  size_t k;
};

// sums[row * kDirectColumns + column] = the sum over k.
struct DirectKernels {
  // Both factors are contiguous along k: b_stride is the distance between columns.
  void (*along_k)(const DirectTile& tile, float* sums);
  // The second factor is contiguous along the columns: b_stride is the distance along k.
  void (*along_columns)(const DirectTile& tile, float* sums);
};

DirectKernels direct_kernels();

}  // namespace softnpu
