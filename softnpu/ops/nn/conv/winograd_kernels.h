#pragma once
// The transforms of Winograd's convolutions F(4 x 4, 3 x 3) and F(2 x 2, 3 x 3). A tile of 6 x 6 (4 x 4) image values
// and a 3 x 3 filter are each transformed to 36 (16) values. Their 36 (16) products yield 4 x 4 (2 x 2) result values,
// which take 144 (36) multiplications otherwise (A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural
// Networks", CVPR 2016, sections 4.1 and 4.3). All functions process 16 channels at a time.

#include <cstddef>
#include <cstdint>

namespace softnpu {

constexpr int64_t kWinogradChannels = 16;
constexpr int64_t kMaxWinogradPlanes = 36;

struct WinogradTile {
  int64_t output = 4;  // side of the output tile: 2 or 4

  constexpr int64_t read() const { return output + 2; }  // side of the input tile
  constexpr int64_t planes() const { return read() * read(); }
};

// The memory of transformed tiles: a matrix [tiles, channels] for each of a tile's values.
struct WinogradPlanes {
  int64_t plane_stride = 0;  // in elements
  int64_t tile_stride = 0;
};

// Rows of positions of 16 channels, in elements.
struct WinogradLines {
  int64_t row_stride = 0;
  int64_t position_stride = kWinogradChannels;
};

// `rows` has as many rows as an input tile; tile t of `tiles` starts at position t * tile.made.
void winograd_image(WinogradTile tile, const float* rows, WinogradLines lines, int64_t tiles,
                    const WinogradPlanes& planes, float* to);
// Writes as many rows of positions as an output tile has; adds `offsets` to the channels.
void winograd_result(WinogradTile tile, const float* from, const WinogradPlanes& planes, int64_t tiles,
                     const float* offsets, float* rows, WinogradLines lines);
// From 9 taps of 16 filters to tile.planes() values each.
void winograd_filter(WinogradTile tile, const float* taps, float* planes);

// The transposed transforms for the filter's gradient: of the output tile, and of the products' sums. `rows` has as
// many rows as an output tile; tile t starts at position t * tile.made.
void winograd_result_gradient(WinogradTile tile, const float* rows, WinogradLines lines, int64_t tiles,
                              const WinogradPlanes& planes, float* to);
// From tile.planes() sums, plane_stride elements apart, to the 9 taps of 16 filters.
void winograd_filter_gradient(WinogradTile tile, const float* sums, int64_t plane_stride, float* taps);

}  // namespace softnpu
