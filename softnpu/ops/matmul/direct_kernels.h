#pragma once
// Tiles of a product in float32, straight from where the factors lie: nothing is packed.

#include <cstddef>

namespace softnpu {

constexpr size_t kDirectRows = 4;
constexpr size_t kDirectColumns = 64;

// One factor's rows and the other's, `columns` of them, and how far their elements are apart.
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
  // Both factors are contiguous along k: b_stride leads to the next column.
  void (*along_k)(const DirectTile& tile, float* sums);
  // The second is dense along the columns: b_stride leads to the next element along k.
  void (*along_columns)(const DirectTile& tile, float* sums);
};

DirectKernels direct_kernels();

}  // namespace softnpu
