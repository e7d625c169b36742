#pragma once
// Convolutions of one channel's image with one filter.

#include <cstddef>
#include <cstdint>

namespace softnpu {

// Floats behind a row that a kernel may read, and does not use.
constexpr int64_t kPlaneSlack = 16;

// A piece of a result: `rows` rows of `columns` values, `to_stride` elements apart.
struct PlaneChunk {
  // For each tap, its first value for the result's first position. The next row is `from_stride` elements behind, the
  // next column one.
  const float* const* from;
  const float* taps;
  size_t tap_count;
  ptrdiff_t from_stride;
  float bias;
  float* to;
  ptrdiff_t to_stride;
  size_t rows;
  size_t columns;
};

// to[y, x] = bias + sum of taps[k] * from[k][y, x].
void convolve_plane(const PlaneChunk& chunk);

}  // namespace softnpu
