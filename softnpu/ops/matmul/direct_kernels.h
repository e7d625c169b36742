#pragma once
// Tiles of a product in float32, straight from where the factors lie: nothing is packed.

#include <cstddef>

namespace softnpu {

constexpr size_t kDirectLines = 4;
constexpr size_t kDirectColumns = 64;

// One factor's lines and the other's, `columns` of them, and how far their elements are apart.
struct DirectTile {
  const float* a;
  ptrdiff_t a_line;
  ptrdiff_t a_depth;
  size_t lines;  // at most kDirectLines
  const float* b;
  ptrdiff_t b_stride;
  size_t columns;  // at most kDirectColumns
  size_t depth;
};

// sums[line * kDirectColumns + column] = the sum over the depth.
struct DirectKernels {
  // Both factors are dense along the depth: b_stride leads to the next column.
  void (*along_depth)(const DirectTile& tile, float* sums);
  // The second is dense along the columns: b_stride leads to the next element of the depth.
  void (*along_columns)(const DirectTile& tile, float* sums);
};

DirectKernels direct_kernels();

}  // namespace softnpu
