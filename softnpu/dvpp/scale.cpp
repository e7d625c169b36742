#include "dvpp/scale.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace softnpu {
namespace {

constexpr int kBits = 11;  // of a weight: a result is off by less than one gray level
constexpr int kOne = 1 << kBits;

// The two neighbours of each output position, and the weight of the second in kOne.
struct Tap {
  int64_t first;
  int64_t second;
  int weight;
};

std::vector<Tap> taps(int64_t from, int64_t to) {
  std::vector<Tap> out(static_cast<size_t>(to));
  const double step = static_cast<double>(from) / static_cast<double>(to);
  for (int64_t i = 0; i < to; ++i) {
    const double at = std::clamp((static_cast<double>(i) + 0.5) * step - 0.5, 0.0, static_cast<double>(from - 1));
    const auto first = static_cast<int64_t>(at);
    out[static_cast<size_t>(i)] = {first, std::min(first + 1, from - 1),
                                   static_cast<int>(std::lround((at - static_cast<double>(first)) * kOne))};
  }
  return out;
}

// Scales one plane; `swaps` exchanges its two channels, or the first and third.
void scale_plane(const Plane& from, const Area& of, const Plane& to, const Area& into, bool swaps) {
  const std::vector<Tap> across = taps(of.width, into.width);
  const std::vector<Tap> down = taps(of.height, into.height);
  const int channels = to.channels;
  for (int64_t y = 0; y < into.height; ++y) {
    const Tap& row = down[static_cast<size_t>(y)];
    const uint8_t* upper = from.row(of.top + row.first) + of.left * channels;
    const uint8_t* lower = from.row(of.top + row.second) + of.left * channels;
    uint8_t* out = to.row(into.top + y) + into.left * channels;
    for (const Tap& column : across) {
      for (int channel = 0; channel < channels; ++channel) {
        const int source = !swaps ? channel : channels == 2 ? 1 - channel : channel < 3 ? 2 - channel : channel;
        const int64_t a = column.first * channels + source;
        const int64_t b = column.second * channels + source;
        const int high = upper[a] * (kOne - column.weight) + upper[b] * column.weight;
        const int low = lower[a] * (kOne - column.weight) + lower[b] * column.weight;
        const int64_t sum = int64_t{high} * (kOne - row.weight) + int64_t{low} * row.weight;
        *out++ = static_cast<uint8_t>((sum + (int64_t{1} << (2 * kBits - 1))) >> (2 * kBits));
      }
    }
  }
}

Area in_chroma(const Area& area, const PixelLayout& layout) {
  return {area.left / layout.chroma_width, area.top / layout.chroma_height, area.width / layout.chroma_width,
          area.height / layout.chroma_height};
}

}  // namespace

Status scale(const Picture& from, const Area& of, const Picture& to, const Area& into) {
  const PixelLayout& a = *from.layout;
  const PixelLayout& b = *to.layout;
  if (a.channels != b.channels || a.chroma_width != b.chroma_width || a.chroma_height != b.chroma_height) {
    return {ACL_ERROR_FEATURE_UNSUPPORTED, text("the input is ", a.name, ", the output ", b.name,
                                                ": call acldvppVpcConvertColorAsync before or after")};
  }
  const bool swaps = a.is_reversed != b.is_reversed;
  scale_plane(from.planes[0], of, to.planes[0], into, swaps && a.channels > 1);
  if (from.plane_count() == 2) {
    scale_plane(from.planes[1], in_chroma(of, a), to.planes[1], in_chroma(into, b), swaps);
  }
  return Status::ok();
}

}  // namespace softnpu
