#pragma once
// Transposes tiles of elements of any type.

#include <cstddef>
#include <cstdint>

namespace softnpu {

// Strides are in bytes. The elements of a line are contiguous, in `from` and in `to`.
struct TransposedTile {
  char* to;
  ptrdiff_t to_stride;
  const char* from;
  ptrdiff_t from_stride;
  int64_t rows;     // lines of `from`
  int64_t columns;  // lines of `to`
};

struct Transpose {
  // The largest tile.
  int64_t rows;
  int64_t columns;
  // `streams`: uses non-temporal stores; the caller ends them by fence_non_temporal_stores().
  void (*run)(const TransposedTile& tile, bool streams);
};

// For elements of 1, 2, 4, 8 or 16 bytes.
Transpose transpose_of(size_t element);

}  // namespace softnpu
