#pragma once
// The transforms of Winograd's convolutions F(4 x 4, 3 x 3) and F(2 x 2, 3 x 3): a tile of 6 x 6 (4 x 4) values of an
// image and a filter of 3 x 3 become 36 (16) values each, whose products become 4 x 4 (2 x 2) values of the result with
// as many multiplications, where 144 (36) are needed otherwise (A. Lavin, S. Gray, "Fast Algorithms for Convolutional
// Neural Networks", CVPR 2016, sections 4.1 and 4.3). All goes by 16 channels at a time.

#include <cstddef>
#include <cstdint>

namespace softnpu {

constexpr int64_t kWinogradChannels = 16;
constexpr int64_t kMostWinogradPlanes = 36;

struct WinogradTile {
  int64_t made = 4;  // values of a side as it is made: 2 or 4

  constexpr int64_t read() const { return made + 2; }  // as it is read
  constexpr int64_t planes() const { return read() * read(); }
};

// Where the values of tiles lie: in a matrix [tiles, channels] for each of a tile's values.
struct WinogradPlanes {
  int64_t plane_stride = 0;  // in elements
  int64_t tile_stride = 0;
};

// Rows of positions of 16 channels, in elements.
struct WinogradLines {
  int64_t row_stride = 0;
  int64_t position_stride = kWinogradChannels;
};

// `rows` has as many rows as a tile reads; the t-th of `tiles` begins at position t * tile.made.
void winograd_image(WinogradTile tile, const float* rows, WinogradLines lines, int64_t tiles,
                    const WinogradPlanes& planes, float* to);
// As many rows of positions as a tile makes from the planes; `offsets` is added to the channels.
void winograd_result(WinogradTile tile, const float* from, const WinogradPlanes& planes, int64_t tiles,
                     const float* offsets, float* rows, WinogradLines lines);
// From 9 taps of 16 filters each tile.planes().
void winograd_filter(WinogradTile tile, const float* taps, float* planes);

// For the gradient of the filter, the transposed transforms: of what a tile makes, and of the products' sums.
// `rows` has as many rows as a tile makes; the t-th tile begins at position t * tile.made.
void winograd_result_gradient(WinogradTile tile, const float* rows, WinogradLines lines, int64_t tiles,
                              const WinogradPlanes& planes, float* to);
// 9 taps of 16 filters from tile.planes() sums of each, which are plane_stride elements apart.
void winograd_filter_gradient(WinogradTile tile, const float* sums, int64_t plane_stride, float* taps);

}  // namespace softnpu
