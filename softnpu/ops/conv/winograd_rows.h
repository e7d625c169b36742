#pragma once
// An image's rows as Winograd's transforms meet them: positions of kWinogradChannels channels each, with zeros around.

#include <cstdint>

#include "ops/conv/problem.h"

namespace softnpu {

class WinogradRows {
 public:
  // Whether rows of `image`, of float32, are read and written here: channels or positions lie one behind the other.
  static bool are_of(const Image& image);

  explicit WinogradRows(const Image& image) : image_(image) {}

  // Rows [row, row + rows) of channels from `channel` on; the first of `positions` is -`before`.
  void read(const float* image, int64_t channel, int64_t row, int64_t rows, int64_t before, int64_t positions,
            float* to) const;
  // Of rows [row, row + rows) what lies within the image.
  void write(const float* from, int64_t row, int64_t rows, int64_t positions, int64_t channel, float* image) const;

  // Elements between two images.
  int64_t image_stride() const;

 private:
  bool has_lines() const { return image_.in_blocks || image_.channel_stride == 1; }
  // The first element of a row, and from one position to the next.
  int64_t row_at(int64_t channel, int64_t row) const;
  int64_t step() const;

  const Image& image_;
};

}  // namespace softnpu
