#include "ops/conv/winograd_rows.h"

#include <algorithm>
#include <cstring>

#include "ops/conv/winograd_kernels.h"
#include "ops/format/turn.h"

namespace softnpu {
namespace {

constexpr int64_t kSide = kTurned<uint32_t>;
constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));

// From kWinogradChannels rows of `count` positions, `stride` elements apart, to positions of channels.
void to_channels(const float* from, int64_t stride, int64_t count, float* to) {
  int64_t x = 0;
  for (; x + kSide <= count; x += kSide) {
    for (int64_t c = 0; c < kWinogradChannels; c += kSide) {
      turn<uint32_t>(reinterpret_cast<const char*>(from + c * stride + x), stride * kBytes,
                     reinterpret_cast<char*>(to + x * kWinogradChannels + c), kWinogradChannels * kBytes);
    }
  }
  for (; x < count; ++x) {
    for (int64_t c = 0; c < kWinogradChannels; ++c) to[x * kWinogradChannels + c] = from[c * stride + x];
  }
}

void to_positions(const float* from, int64_t count, float* to, int64_t stride) {
  int64_t x = 0;
  for (; x + kSide <= count; x += kSide) {
    for (int64_t c = 0; c < kWinogradChannels; c += kSide) {
      turn<uint32_t>(reinterpret_cast<const char*>(from + x * kWinogradChannels + c), kWinogradChannels * kBytes,
                     reinterpret_cast<char*>(to + c * stride + x), stride * kBytes);
    }
  }
  for (; x < count; ++x) {
    for (int64_t c = 0; c < kWinogradChannels; ++c) to[c * stride + x] = from[x * kWinogradChannels + c];
  }
}

void clear(float* from, int64_t positions) { std::fill_n(from, positions * kWinogradChannels, 0.0F); }

}  // namespace

bool WinogradRows::are_of(const Image& image) {
  return image.dtype == ACL_FLOAT && (image.in_blocks || image.channel_stride == 1 || image.strides[2] == 1);
}

int64_t WinogradRows::image_stride() const {
  return image_.in_blocks ? image_.channels * image_.positions() : image_.batch_stride;
}

int64_t WinogradRows::step() const { return image_.in_blocks ? kWinogradChannels : image_.strides[2]; }

int64_t WinogradRows::row_at(int64_t channel, int64_t row) const {
  if (image_.in_blocks) return channel * image_.positions() + row * image_.sizes[2] * kWinogradChannels;
  return channel * image_.channel_stride + row * image_.strides[1];
}

void WinogradRows::read(const float* image, int64_t channel, int64_t row, int64_t rows, int64_t before,
                        int64_t positions, float* to) const {
  const int64_t width = image_.sizes[2];
  for (int64_t i = 0; i < rows; ++i, to += positions * kWinogradChannels) {
    if (row + i < 0 || row + i >= image_.sizes[1]) {
      clear(to, positions);
      continue;
    }
    const float* from = image + row_at(channel, row + i);
    float* inner = to + before * kWinogradChannels;
    clear(to, before);
    if (has_lines()) {
      for (int64_t x = 0; x < width; ++x) {
        std::memcpy(inner + x * kWinogradChannels, from + x * step(), kWinogradChannels * sizeof(float));
      }
    } else {
      to_channels(from, image_.channel_stride, width, inner);
    }
    clear(inner + width * kWinogradChannels, positions - before - width);
  }
}

void WinogradRows::write(const float* from, int64_t row, int64_t rows, int64_t positions, int64_t channel,
                         float* image) const {
  const int64_t width = image_.sizes[2];
  for (int64_t i = 0; i < rows && row + i < image_.sizes[1]; ++i, from += positions * kWinogradChannels) {
    float* to = image + row_at(channel, row + i);
    if (has_lines()) {
      for (int64_t x = 0; x < width; ++x) {
        std::memcpy(to + x * step(), from + x * kWinogradChannels, kWinogradChannels * sizeof(float));
      }
    } else {
      to_positions(from, width, to, image_.channel_stride);
    }
  }
}

}  // namespace softnpu
