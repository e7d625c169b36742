#include "ops/conv/winograd_filter.h"

#include <array>
#include <cstring>
#include <vector>

#include "ops/parallel.h"

namespace softnpu {
namespace {

constexpr size_t kMade = 2;       // the dimension of the channels that are made
constexpr int64_t kTogether = 8;  // of them lie one behind the other
constexpr int64_t kPlaces = 9;

// Where an element of a layout with blocks lies.
class Places {
 public:
  explicit Places(const dnnl::memory::desc& layout)
      : strides_(layout.get_strides()), sizes_(layout.get_inner_blks()), dims_(layout.get_inner_idxs()) {}

  // Whether kTogether channels lie one behind the other.
  bool has_lines() const {
    return dims_.empty() ? strides_[kMade] == 1
                         : dims_.back() == static_cast<int64_t>(kMade) && sizes_.back() % kTogether == 0;
  }
  int64_t of(std::array<int64_t, 3> at) const {
    int64_t place = 0;
    int64_t stride = 1;
    for (size_t i = dims_.size(); i-- > 0;) {
      int64_t& index = at[static_cast<size_t>(dims_[i])];
      place += index % sizes_[i] * stride;
      index /= sizes_[i];
      stride *= sizes_[i];
    }
    for (size_t i = 0; i < at.size(); ++i) place += at[i] * strides_[i];
    return place;
  }

 private:
  dnnl::memory::dims strides_, sizes_, dims_;
};

// The 9 places of kWinogradChannels filters from `made` on, of one channel that is read. The gradient of the input sees
// the filter from its other end.
void read_places(const ConvProblem& p, int64_t read, int64_t made, float* to) {
  const bool forward = p.kind == ConvKind::kForward;
  const Filter& f = p.filter;
  const auto* from = reinterpret_cast<const float*>(f.data) + read * (forward ? f.in_stride : f.out_stride);
  for (int64_t i = 0; i < kPlaces; ++i) {
    const int64_t place = forward ? i : kPlaces - 1 - i;
    const float* at = from + place / 3 * f.strides[1] + place % 3 * f.strides[2];
    for (int64_t c = 0; c < kWinogradChannels; ++c) {
      to[i * kWinogradChannels + c] = at[(made + c) * (forward ? f.out_stride : f.in_stride)];
    }
  }
}

}  // namespace

bool may_pack_winograd_filter(const dnnl::memory::desc& layout) {
  const auto sizes = layout.get_dims();
  const auto padded = layout.get_padded_dims();
  return layout.get_format_kind() == dnnl::memory::format_kind::blocked && sizes == padded &&
         Places(layout).has_lines();
}

void pack_winograd_filter(const ConvProblem& p, WinogradTile tile, const dnnl::memory::desc& layout, int threads,
                          float* to) {
  const Places places(layout);
  const auto sizes = layout.get_dims();
  parallel_for(sizes[1], 8, threads, [&](int64_t first, int64_t last) {
    alignas(64) float given[kPlaces * kWinogradChannels];
    alignas(64) float planes[kMostWinogradPlanes * kWinogradChannels];
    for (int64_t read = first; read < last; ++read) {
      for (int64_t made = 0; made < sizes[2]; made += kWinogradChannels) {
        read_places(p, read, made, given);
        winograd_filter(tile, given, planes);
        for (int64_t plane = 0; plane < tile.planes(); ++plane) {
          for (int64_t c = 0; c < kWinogradChannels; c += kTogether) {
            std::memcpy(to + places.of({plane, read, made + c}), planes + plane * kWinogradChannels + c,
                        kTogether * sizeof(float));
          }
        }
      }
    }
  });
}

}  // namespace softnpu
