#pragma once
// The transforms of Winograd's convolution F(4 x 4, 3 x 3): a tile of 6 x 6 values of an image and a filter of 3 x 3
// become 36 values each, whose products become 4 x 4 values of the result with 36 multiplications where 144 are needed
// otherwise (A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016, section 4.3). All goes
// by 16 channels at a time.

#include <cstddef>
#include <cstdint>

namespace softnpu {

constexpr int64_t kWinogradMade = 4;  // values of a tile's side, as it is made
constexpr int64_t kWinogradRead = 6;  // as it is read
constexpr int64_t kWinogradPlanes = 36;
constexpr int64_t kWinogradChannels = 16;

// Where the 36 values of tiles lie: in a matrix [tiles, channels] for each of them.
struct WinogradPlanes {
  int64_t plane_stride = 0;  // in elements
  int64_t tile_stride = 0;
};

// `rows` has 6 rows of positions of 16 channels, row_stride elements apart; tile t begins at position 4 t.
void winograd_image(const float* rows, int64_t row_stride, int64_t tiles, const WinogradPlanes& planes, float* to);
// 4 rows of positions from the planes; `offsets` is added to the channels.
void winograd_result(const float* from, const WinogradPlanes& planes, int64_t tiles, const float* offsets, float* rows,
                     int64_t row_stride);
// From 9 places of 16 filters each 36.
void winograd_filter(const float* places, float* planes);

}  // namespace softnpu
