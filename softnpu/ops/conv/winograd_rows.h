#pragma once
// Winograd's transforms between an image as it lies and planes. Where the channels lie one behind the other a tile
// within the image is read and written where it is; other tiles go through a buffer of positions of kWinogradChannels
// channels each, with zeros around.

#include <cstdint>

#include "ops/conv/problem.h"
#include "ops/conv/winograd_kernels.h"

namespace softnpu {

// From kWinogradChannels rows of `count` positions, `stride` elements apart, to positions of channels, and back.
void to_channels(const float* from, int64_t stride, int64_t count, float* to);
void to_positions(const float* from, int64_t count, float* to, int64_t stride);

// A row of tiles, of channels from `channel` on. The first one begins at (row, column), which may be before the image.
struct WinogradRow {
  int64_t channel = 0;
  int64_t row = 0, column = 0;
  int64_t tiles = 0;
};

class WinogradRows {
 public:
  // Whether rows of `image`, of float32, are read and written here: channels or positions lie one behind the other.
  static bool are_of(const Image& image);
  // Elements that a buffer for `tiles` tiles has.
  static int64_t buffer_size(WinogradTile tile, int64_t tiles) {
    return tile.read() * (tiles * tile.made + tile.read() - tile.made) * kWinogradChannels;
  }

  WinogradRows(const Image& image, WinogradTile tile) : image_(image), tile_(tile) {}

  // A transform of squares of `side` positions to planes.
  using Transform = void(WinogradTile tile, const float* rows, WinogradLines lines, int64_t tiles,
                         const WinogradPlanes& planes, float* to);
  void read(const float* image, const WinogradRow& row, int64_t side, Transform* transform,
            const WinogradPlanes& planes, float* to, float* buffer) const;
  // What the planes make, plus `offsets`; what lies beyond the image is thrown away.
  void write(const float* from, const WinogradPlanes& planes, const float* offsets, const WinogradRow& row,
             float* image, float* buffer) const;

  // Elements between two images.
  int64_t image_stride() const;

 private:
  bool has_lines() const { return image_.is_blocked || image_.channel_stride == 1; }
  WinogradLines lines() const;
  // Where a channel's row begins.
  int64_t row_at(int64_t channel, int64_t row) const;
  // Rows [row, row + rows) of positions [column, column + positions) to the buffer.
  void fill(const float* image, int64_t channel, int64_t row, int64_t rows, int64_t column, int64_t positions,
            float* buffer) const;
  // What lies within the image of as many rows as a tile makes.
  void empty(const float* buffer, int64_t channel, int64_t row, int64_t column, int64_t positions, float* image) const;

  const Image& image_;
  const WinogradTile tile_;
};

}  // namespace softnpu
