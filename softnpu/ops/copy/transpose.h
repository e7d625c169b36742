#pragma once
// Transposed tiles of elements, whatever their type.

#include <cstddef>
#include <cstdint>

namespace softnpu {

// Strides are of bytes. The lines of `from` and of `to` have their elements one behind the other.
struct TransposedTile {
  char* to;
  ptrdiff_t to_stride;
  const char* from;
  ptrdiff_t from_stride;
  int64_t rows;     // lines of `from`
  int64_t columns;  // lines of `to`
};

struct Transpose {
  // The most that a tile has.
  int64_t rows;
  int64_t columns;
  // `streams`: past the caches; fence_non_temporal_stores() ends it.
  void (*run)(const TransposedTile& tile, bool streams);
};

// Of elements of 1, 2, 4, 8 or 16 bytes.
Transpose transpose_of(size_t element);

}  // namespace softnpu
