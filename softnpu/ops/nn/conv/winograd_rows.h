#pragma once
// Winograd's transforms between an image in memory and planes. If the channels are adjacent in memory, tiles inside the
// image are read and written in place. Other tiles are copied through a zero-padded buffer of positions with
// kWinogradChannels channels each.

#include <cstdint>

#include "ops/nn/conv/problem.h"
#include "ops/nn/conv/winograd_kernels.h"

namespace softnpu {

// From kWinogradChannels rows of `count` positions, `stride` elements apart, to positions of adjacent channels, and
// back.
void to_channels(const float* from, int64_t stride, int64_t count, float* to);
void to_positions(const float* from, int64_t count, float* to, int64_t stride);

// A row of tiles, for channels from `channel` on. The first tile starts at (row, column), which may be before the
// image.
struct WinogradRow {
  int64_t channel = 0;
  int64_t row = 0, column = 0;
  int64_t tiles = 0;
};

class WinogradRows {
 public:
  // Whether rows of `image`, of float32, can be used here: channels or positions are adjacent in memory.
  static bool are_of(const Image& image);
  // The size of a buffer for `tiles` tiles, in elements.
  static int64_t buffer_size(WinogradTile tile, int64_t tiles) {
    return tile.read() * (tiles * tile.output + tile.read() - tile.output) * kWinogradChannels;
  }

  WinogradRows(const Image& image, WinogradTile tile) : image_(image), tile_(tile) {}

  // A transform from squares of `side` positions to planes.
  using Transform = void(WinogradTile tile, const float* rows, WinogradLines lines, int64_t tiles,
                         const WinogradPlanes& planes, float* to);
  void read(const float* image, const WinogradRow& row, int64_t side, Transform* transform,
            const WinogradPlanes& planes, float* to, float* buffer) const;
  // Writes the results of the planes plus `offsets`; drops what is beyond the image.
  void write(const float* from, const WinogradPlanes& planes, const float* offsets, const WinogradRow& row,
             float* image, float* buffer) const;

  // The distance between images, in elements.
  int64_t image_stride() const;

 private:
  bool has_lines() const { return image_.is_blocked || image_.channel_stride == 1; }
  WinogradLines lines() const;
  // The offset of a channel's row.
  int64_t row_at(int64_t channel, int64_t row) const;
  // Copies rows [row, row + rows) of positions [column, column + positions) to the buffer.
  void fill(const float* image, int64_t channel, int64_t row, int64_t rows, int64_t column, int64_t positions,
            float* buffer) const;
  // Copies the part of the buffer that is inside the image, of as many rows as an output tile has.
  void empty(const float* buffer, int64_t channel, int64_t row, int64_t column, int64_t positions, float* image) const;

  const Image& image_;
  const WinogradTile tile_;
};

}  // namespace softnpu
