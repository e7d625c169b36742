#include "ops/nn/conv/winograd_rows.h"

#include <algorithm>
#include <cstring>

#include "ops/core/format/transpose_tile.h"
#include "ops/nn/conv/winograd_kernels.h"

namespace softnpu {
namespace {

constexpr int64_t kSide = kTransposedSide<uint32_t>;
constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));

void clear(float* from, int64_t positions) { std::fill_n(from, positions * kWinogradChannels, 0.0F); }

}  // namespace

void to_channels(const float* from, int64_t stride, int64_t count, float* to) {
  int64_t x = 0;
  for (; x + kSide <= count; x += kSide) {
    for (int64_t c = 0; c < kWinogradChannels; c += kSide) {
      transpose_tile<uint32_t>(reinterpret_cast<const char*>(from + c * stride + x), stride * kBytes,
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
      transpose_tile<uint32_t>(reinterpret_cast<const char*>(from + x * kWinogradChannels + c),
                               kWinogradChannels * kBytes, reinterpret_cast<char*>(to + c * stride + x),
                               stride * kBytes);
    }
  }
  for (; x < count; ++x) {
    for (int64_t c = 0; c < kWinogradChannels; ++c) to[c * stride + x] = from[x * kWinogradChannels + c];
  }
}

bool WinogradRows::are_of(const Image& image) {
  return image.dtype == ACL_FLOAT && (image.is_blocked || image.channel_stride == 1 || image.strides[2] == 1);
}

int64_t WinogradRows::image_stride() const {
  return image_.is_blocked ? image_.channels * image_.spatial_size() : image_.batch_stride;
}

WinogradLines WinogradRows::lines() const {
  return image_.is_blocked ? WinogradLines{image_.sizes[2] * kWinogradChannels, kWinogradChannels}
                           : WinogradLines{image_.strides[1], image_.strides[2]};
}

int64_t WinogradRows::row_at(int64_t channel, int64_t row) const {
  if (image_.is_blocked) return channel * image_.spatial_size() + row * image_.sizes[2] * kWinogradChannels;
  return channel * image_.channel_stride + row * image_.strides[1];
}

void WinogradRows::read(const float* image, const WinogradRow& row, int64_t side, Transform* transform,
                        const WinogradPlanes& planes, float* to, float* buffer) const {
  const auto through_buffer = [&](int64_t first, int64_t last) {
    if (first == last) return;
    const int64_t positions = (last - first - 1) * tile_.output + side;
    fill(image, row.channel, row.row, side, row.column + first * tile_.output, positions, buffer);
    transform(tile_, buffer, {positions * kWinogradChannels}, last - first, planes, to + first * planes.tile_stride);
  };
  if (!has_lines() || row.row < 0 || row.row + side > image_.sizes[1]) return through_buffer(0, row.tiles);
  // Earlier tiles start left of the image, later ones end right of it.
  const int64_t first = std::min(row.tiles, (std::max<int64_t>(0, -row.column) + tile_.output - 1) / tile_.output);
  const int64_t room = image_.sizes[2] - row.column - side;
  const int64_t last = std::clamp(room < 0 ? 0 : room / tile_.output + 1, first, row.tiles);
  through_buffer(0, first);
  const float* inner = image + row_at(row.channel, row.row);
  if (first < last) {
    inner += (row.column + first * tile_.output) * lines().position_stride;
    transform(tile_, inner, lines(), last - first, planes, to + first * planes.tile_stride);
  }
  through_buffer(last, row.tiles);
}

void WinogradRows::write(const float* from, const WinogradPlanes& planes, const float* offsets, const WinogradRow& row,
                         float* image, float* buffer) const {
  const bool is_inside = has_lines() && row.row + tile_.output <= image_.sizes[1];
  const int64_t inside = is_inside ? std::min(row.tiles, (image_.sizes[2] - row.column) / tile_.output) : 0;
  if (inside > 0) {
    float* to = image + row_at(row.channel, row.row) + row.column * lines().position_stride;
    winograd_result(tile_, from, planes, inside, offsets, to, lines());
  }
  if (inside == row.tiles) return;
  const int64_t positions = (row.tiles - inside) * tile_.output;
  winograd_result(tile_, from + inside * planes.tile_stride, planes, row.tiles - inside, offsets, buffer,
                  {positions * kWinogradChannels});
  empty(buffer, row.channel, row.row, row.column + inside * tile_.output, positions, image);
}

void WinogradRows::fill(const float* image, int64_t channel, int64_t row, int64_t rows, int64_t column,
                        int64_t positions, float* buffer) const {
  const int64_t begin = std::clamp<int64_t>(-column, 0, positions);
  const int64_t end = std::clamp(image_.sizes[2] - column, begin, positions);
  const int64_t step = lines().position_stride;
  for (int64_t i = 0; i < rows; ++i, buffer += positions * kWinogradChannels) {
    if (row + i < 0 || row + i >= image_.sizes[1]) {
      clear(buffer, positions);
      continue;
    }
    const float* from = image + row_at(channel, row + i) + (column + begin) * step;
    float* inner = buffer + begin * kWinogradChannels;
    clear(buffer, begin);
    if (has_lines()) {
      for (int64_t x = 0; x < end - begin; ++x) {
        std::memcpy(inner + x * kWinogradChannels, from + x * step, kWinogradChannels * sizeof(float));
      }
    } else {
      to_channels(from, image_.channel_stride, end - begin, inner);
    }
    clear(buffer + end * kWinogradChannels, positions - end);
  }
}

void WinogradRows::empty(const float* buffer, int64_t channel, int64_t row, int64_t column, int64_t positions,
                         float* image) const {
  const int64_t count = std::min(positions, image_.sizes[2] - column);
  const int64_t step = lines().position_stride;
  for (int64_t i = 0; i < tile_.output && row + i < image_.sizes[1]; ++i, buffer += positions * kWinogradChannels) {
    float* to = image + row_at(channel, row + i) + column * step;
    if (has_lines()) {
      for (int64_t x = 0; x < count; ++x) {
        std::memcpy(to + x * step, buffer + x * kWinogradChannels, kWinogradChannels * sizeof(float));
      }
    } else {
      to_positions(buffer, count, to, image_.channel_stride);
    }
  }
}

}  // namespace softnpu
