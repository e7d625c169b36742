#include "ops/nn/pool/argmax_bits.h"

#include <algorithm>

namespace softnpu {

void ArgmaxBits::encode(const int32_t* indices, uint16_t* bits) const {
  std::fill_n(bits, channel_words(), uint16_t{0});
  for (int64_t window = 0; window < windows(); ++window) {
    const int64_t row = (indices[window] / in[2] - start(1, window / out[2])) / dilation[1];
    const int64_t column = (indices[window] % in[2] - start(2, window % out[2])) / dilation[2];
    uint16_t& word = bits[(row * kernel[2] + column) * row_words() + window / 16];
    word = static_cast<uint16_t>(word | 1U << (window % 16));
  }
}

void ArgmaxBits::decode(const uint16_t* bits, int32_t* indices) const {
  for (int64_t window = 0; window < windows(); ++window) {
    const int64_t top = start(1, window / out[2]);
    const int64_t left = start(2, window % out[2]);
    indices[window] = static_cast<int32_t>(std::max<int64_t>(0, top) * in[2] + std::max<int64_t>(0, left));
    for (int64_t location = 0; location < taps(); ++location) {
      if ((bits[location * row_words() + window / 16] >> (window % 16) & 1) == 0) continue;
      const int64_t y = top + location / kernel[2] * dilation[1];
      const int64_t x = left + location % kernel[2] * dilation[2];
      if (y >= 0 && y < in[1] && x >= 0 && x < in[2]) indices[window] = static_cast<int32_t>(y * in[2] + x);
    }
  }
}

}  // namespace softnpu
