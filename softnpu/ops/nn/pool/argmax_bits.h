#pragma once
// The position of each window's maximum, as bits: a 16-bit word has one bit for each of 16 windows of a channel; there
// is one row of words per tap of a window. [N, C, taps, ceil(windows / 16) + 1] words.

#include <cstdint>

#include "base/checked.h"
#include "ops/nn/conv/problem.h"

namespace softnpu {

// Images whose last two of three dimensions are used.
struct ArgmaxBits {
  Triple in = {1, 1, 1};
  Triple out = {1, 1, 1};
  Triple kernel = {1, 1, 1};
  Triple stride = {1, 1, 1};
  Triple padding = {0, 0, 0};
  Triple dilation = {1, 1, 1};

  int64_t windows() const { return out[1] * out[2]; }
  int64_t taps() const { return kernel[1] * kernel[2]; }
  int64_t row_words() const { return (windows() + 15) / 16 + 1; }
  Checked words() const { return checked(taps()) * row_words(); }  // per channel
  int64_t channel_words() const { return words().value(); }

  // For one channel: `indices` are positions in its image.
  void encode(const int32_t* indices, uint16_t* bits) const;
  // A window without a bit gets the index of its first position in the image.
  void decode(const uint16_t* bits, int32_t* indices) const;

 private:
  int64_t start(size_t dim, int64_t at) const { return at * stride[dim] - padding[dim]; }
};

}  // namespace softnpu
