// 3 x 3 convolutions by Winograd's minimal filtering, if float32 may be computed with lower precision: a quarter of the
// multiplications, but of larger terms. Each thread takes some rows of tiles through input transform, products and
// output transform in its own memory.

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "ops/blas/onednn/engine.h"
#include "ops/blas/onednn/runs.h"
#include "ops/blas/weights/packed_weights.h"
#include "ops/core/workspace.h"
#include "ops/nn/conv/onednn_step.h"
#include "ops/nn/conv/winograd_filter.h"
#include "ops/nn/conv/winograd_kernels.h"
#include "ops/nn/conv/winograd_products.h"
#include "ops/nn/conv/winograd_root.h"
#include "ops/nn/conv/winograd_tiles.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The tiles of one thread's products: their planes fit its cache, but there are enough of them for a matrix product.
constexpr int64_t kPlanesBytes = int64_t{1} << 20;
constexpr int64_t kMinGroup = 24;
// From as many tiles on, a call packs the filter in a small part of its time: a packed copy would not be worth its
// memory.
constexpr int64_t kManyTiles = 384;

// The filter's layout, as the key of its packed copies.
struct FilterKey {
  int64_t planes = 0;
  int64_t kind = 0;
  int64_t read = 0, output = 0;
  int64_t out_stride = 0, in_stride = 0, row_stride = 0, column_stride = 0;
};

class Winograd final : public WinogradRoot {
 public:
  // Throws dnnl::error if oneDNN has no such product, or if the filter cannot be packed for it.
  explicit Winograd(const ConvProblem& problem) : WinogradRoot(problem) {
    at_once_ =
        images_at_once(p_.batch, (p_.in.channels * p_.in.spatial_size() + p_.out.channels * p_.out.spatial_size()) *
                                     static_cast<int64_t>(sizeof(float)));
    const int64_t channels = read().channels + output_image().channels;
    // Each product reads the whole filter: tiles should have at least a quarter of its size.
    const int64_t least = std::max(kMinGroup, read().channels * output_image().channels / channels / 4);
    const auto are_enough = [&](int64_t images) {
      return p_.batch % images == 0 && images * tiles_down_ * tiles_across_ >= least * threads_;
    };
    while (at_once_ < p_.batch && !are_enough(at_once_)) ++at_once_;
    const int64_t rows = at_once_ * tiles_down_;
    const int64_t fits = kPlanesBytes / (tile_.planes() * channels * static_cast<int64_t>(sizeof(float)));
    const int64_t group = std::max(least, fits) / tiles_across_;
    rows_ = std::clamp<int64_t>(group, 1, (rows + threads_ - 1) / threads_);
    whole_ = winograd_product_of({tile_.planes(), rows_ * tiles_across_, read().channels, output_image().channels});
    if (const int64_t left = rows % rows_; left != 0) {
      rest_ = winograd_product_of({tile_.planes(), left * tiles_across_, read().channels, output_image().channels});
    }
    const bool fits_both = rest_ == nullptr || rest_->weights == whole_->weights;
    if (!fits_both || !may_pack_winograd_filter(whole_->weights)) {
      throw dnnl::error(dnnl_unimplemented, "a filter in a layout of its own");
    }
    filter_at_ = space_.reserve(checked(whole_->weights.get_size()));
    offsets_at_ = space_.reserve(checked(output_image().channels) * sizeof(float));
    const int64_t tiles = rows_ * tiles_across_;
    const auto floats = [](int64_t count) { return checked(count) * sizeof(float); };
    slot_.reserve(floats(tile_.planes() * (winograd_plane_stride(tiles, read().channels) +
                                           winograd_plane_stride(tiles, output_image().channels))));
    buffer_at_ = slot_.reserve(floats(WinogradRows::buffer_size(tile_, tiles_across_)));
    scratchpad_at_ =
        slot_.reserve(checked(std::max(whole_->scratchpad_bytes, rest_ == nullptr ? 0 : rest_->scratchpad_bytes)));
    slots_at_ = space_.reserve(slot_.bytes() * threads_);
  }

  using WinogradRoot::run;
  uint64_t packed_bytes() const { return has_many_tiles() ? 0 : whole_->weights.get_size(); }

 private:
  void run(char* space, char* to, const OnImages& output_images) const override {
    const ThreadScope scope(threads_);
    auto* offsets = reinterpret_cast<float*>(space + offsets_at_);
    read_offsets(offsets);
    const std::shared_ptr<void> packed = packed_filter();
    if (packed == nullptr) pack_filter(reinterpret_cast<float*>(space + filter_at_));
    void* filter = packed != nullptr ? packed.get() : space + filter_at_;
    for (int64_t image = 0; image < p_.batch; image += at_once_) {
      parallel_for_slots(at_once_ * tiles_down_, rows_, threads_, [&](int64_t first, int64_t last, int slot) {
        // On a single thread one call gets all rows.
        for (int64_t row = first; row < last; row += rows_) {
          const int64_t begin = image * tiles_down_ + row;
          run_rows(begin, begin + std::min(rows_, last - row),
                   space + slots_at_ + static_cast<size_t>(slot) * slot_.bytes().bytes(), filter, offsets,
                   reinterpret_cast<float*>(to));
        }
      });
      output_images(image, image + at_once_);
    }
  }

  // Rows of tiles [first, last), numbered through all images.
  void run_rows(int64_t first, int64_t last, char* slot, void* filter, const float* offsets, float* to) const {
    const ThreadScope scope(1);
    const int64_t tiles = (last - first) * tiles_across_;
    const WinogradPlanes read_planes{winograd_plane_stride(tiles, read().channels), read().channels};
    const WinogradPlanes output_planes{winograd_plane_stride(tiles, output_image().channels), output_image().channels};
    auto* planes = reinterpret_cast<float*>(slot);
    float* products = planes + tile_.planes() * read_planes.plane_stride;
    auto* buffer = reinterpret_cast<float*>(slot + buffer_at_);
    for (int64_t row = first; row < last; ++row) {
      read_row(row, read_planes, planes + (row - first) * tiles_across_ * read_planes.tile_stride, buffer);
    }
    const WinogradProduct& product = last - first == rows_ ? *whole_ : *rest_;
    const std::array<void*, 4> arguments{planes, filter, products, slot + scratchpad_at_};
    product.runs->execute(arguments);
    for (int64_t row = first; row < last; ++row) {
      write_row(row, 0, output_image().channels, output_planes,
                products + (row - first) * tiles_across_ * output_planes.tile_stride, offsets, to, buffer);
    }
  }

  void pack_filter(float* to) const {
    pack_winograd_filter(p_, tile_, winograd_filter_offsets(whole_->weights), 0, threads_, to);
  }

  bool has_many_tiles() const { return p_.batch * tiles_per_image() >= kManyTiles; }

  std::shared_ptr<void> packed_filter() const {
    const Filter& f = p_.filter;
    const FilterKey key{tile_.planes(),  static_cast<int64_t>(p_.kind),
                        read().channels, output_image().channels,
                        f.out_stride,    f.in_stride,
                        f.strides[1],    f.strides[2]};
    const std::string_view layout(reinterpret_cast<const char*>(&key), sizeof key);
    if (has_many_tiles()) return nullptr;
    return PackedWeights::get().find(
        {f.source.address, f.source.bytes, layout},
        [&] { return PackedLayout(whole_->weights.get_size(), whole_->weights); },
        [&](void* to) { pack_filter(static_cast<float*>(to)); });
  }

  int64_t at_once_ = 1;  // images per run
  int64_t rows_ = 1;     // rows of tiles per thread's product
  std::shared_ptr<const WinogradProduct> whole_, rest_;
  size_t filter_at_ = 0, offsets_at_ = 0, slots_at_ = 0;
  Workspace slot_;  // per thread: planes and products, buffer, scratchpad
  size_t buffer_at_ = 0, scratchpad_at_ = 0;
};

}  // namespace

Attempt<Step> winograd_convolution(const ConvProblem& p) {
  if (const char* why = refused_by_winograd(p)) return Refusal{why};
  if (!has_enough_tiles(p.output(), p.batch, tile_of(p, p.output()))) return Refusal{kRefusedTiles};
  if (auto step = streamed_winograd_convolution(p)) return step;
  return onednn_step<Winograd>(p);
}

}  // namespace softnpu
