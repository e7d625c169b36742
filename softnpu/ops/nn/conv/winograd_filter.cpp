#include "ops/nn/conv/winograd_filter.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "ops/nn/conv/winograd_rows.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Dimensions of the filter's channels.
constexpr size_t kRead = 1;
constexpr size_t kOutput = 2;
constexpr int64_t kGroup = 8;  // output channels that are adjacent in memory
constexpr int64_t kChannelsOfPart = 64;
// Input channels that are written plane by plane: planes are often a power of two apart and share cache sets.
constexpr int64_t kReadGroup = 8;
constexpr int64_t kPlaces = 9;
constexpr int64_t kTaps = kPlaces * kWinogradChannels;

// The offset of an element in a blocked layout.
class TapOffsets {
 public:
  explicit TapOffsets(const dnnl::memory::desc& layout)
      : strides_(layout.get_strides()), sizes_(layout.get_inner_blks()), dims_(layout.get_inner_idxs()) {}

  // Whether kGroup channels are adjacent in memory.
  bool has_lines() const {
    return dims_.empty() ? strides_[kOutput] == 1
                         : dims_.back() == static_cast<int64_t>(kOutput) && sizes_.back() % kGroup == 0;
  }
  // Offsets per index of a dimension: an element's offset is the sum over its indices.
  std::vector<int64_t> along(size_t dim, int64_t size) const {
    std::vector<int64_t> offsets(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) {
      int64_t index = i;
      int64_t tap = 0;
      int64_t stride = 1;
      for (size_t block = dims_.size(); block-- > 0; stride *= sizes_[block]) {
        if (dims_[block] != static_cast<int64_t>(dim)) continue;
        tap += index % sizes_[block] * stride;
        index /= sizes_[block];
      }
      offsets[static_cast<size_t>(i)] = tap + index * strides_[dim];
    }
    return offsets;
  }

 private:
  dnnl::memory::dims strides_, sizes_, dims_;
};

// Reads the 9 taps of kWinogradChannels filters from `output` on, for one input channel. The input's gradient uses the
// filter rotated by 180 degrees.
void read_taps(const ConvProblem& p, int64_t read, int64_t output, float* to) {
  const bool forward = p.kind == ConvKind::kForward;
  const Filter& f = p.filter;
  const int64_t output_stride = forward ? f.out_stride : f.in_stride;
  const auto* from = reinterpret_cast<const float*>(f.data) + read * (forward ? f.in_stride : f.out_stride);
  from += output * output_stride;
  if (f.has_contiguous_taps()) {
    to_channels(from, output_stride, kPlaces, to);
    for (int64_t i = 0; !forward && i < kPlaces / 2; ++i) {
      float* tap = to + i * kWinogradChannels;
      std::swap_ranges(tap, tap + kWinogradChannels, to + (kPlaces - 1 - i) * kWinogradChannels);
    }
    return;
  }
  for (int64_t i = 0; i < kPlaces; ++i) {
    const int64_t tap = forward ? i : kPlaces - 1 - i;
    const float* at = from + tap / 3 * f.strides[1] + tap % 3 * f.strides[2];
    for (int64_t c = 0; c < kWinogradChannels; ++c) to[i * kWinogradChannels + c] = at[c * output_stride];
  }
}

// The same for `count` input channels from `read` on; kTaps values each.
void read_taps(const ConvProblem& p, int64_t read, int64_t count, int64_t output, float* to) {
  const Filter& f = p.filter;
  if (p.kind == ConvKind::kForward && f.has_contiguous_taps() && f.in_stride == kPlaces) {
    const auto* from = reinterpret_cast<const float*>(f.data) + output * f.out_stride + read * kPlaces;
    return to_channels(from, f.out_stride, count * kPlaces, to);
  }
  for (int64_t i = 0; i < count; ++i) read_taps(p, read + i, output, to + i * kTaps);
}

}  // namespace

bool may_pack_winograd_filter(const dnnl::memory::desc& layout) {
  const auto sizes = layout.get_dims();
  const auto padded = layout.get_padded_dims();
  return layout.get_format_kind() == dnnl::memory::format_kind::blocked && sizes == padded &&
         TapOffsets(layout).has_lines();
}

WinogradFilterOffsets winograd_filter_offsets(const dnnl::memory::desc& layout) {
  const TapOffsets offsets(layout);
  const auto sizes = layout.get_dims();
  return {offsets.along(0, sizes[0]), offsets.along(kRead, sizes[kRead]), offsets.along(kOutput, sizes[kOutput])};
}

void pack_winograd_filter(const ConvProblem& p, WinogradTile tile, const WinogradFilterOffsets& offsets,
                          int64_t first_implementation, int threads, float* to) {
  const auto read_channels = static_cast<int64_t>(offsets.read.size());
  const auto output_channels = static_cast<int64_t>(offsets.output.size());
  // Few filters and many channels at a time: a line of each filter stays in the cache until it is used up.
  const int64_t parts = (read_channels + kChannelsOfPart - 1) / kChannelsOfPart;
  parallel_for(output_channels / kWinogradChannels * parts, 1, threads, [&](int64_t first, int64_t last) {
    alignas(64) float taps[kReadGroup * kTaps];
    alignas(64) float planes[kReadGroup][kMaxWinogradPlanes * kWinogradChannels];
    for (int64_t part = first; part < last; ++part) {
      const int64_t output = part / parts * kWinogradChannels;
      const int64_t end = std::min((part % parts + 1) * kChannelsOfPart, read_channels);
      for (int64_t begin = part % parts * kChannelsOfPart; begin < end; begin += kReadGroup) {
        const int64_t count = std::min(kReadGroup, end - begin);
        read_taps(p, begin, count, first_implementation + output, taps);
        for (int64_t i = 0; i < count; ++i) winograd_filter(tile, taps + i * kTaps, planes[i]);
        for (int64_t plane = 0; plane < tile.planes(); ++plane) {
          float* matrix = to + offsets.plane[static_cast<size_t>(plane)];
          for (int64_t i = 0; i < count; ++i) {
            float* line = matrix + offsets.read[static_cast<size_t>(begin + i)];
            for (int64_t c = 0; c < kWinogradChannels; c += kGroup) {
              std::memcpy(line + offsets.output[static_cast<size_t>(output + c)],
                          planes[i] + plane * kWinogradChannels + c, kGroup * sizeof(float));
            }
          }
        }
      }
    }
  });
}

}  // namespace softnpu
