// 3 x 3 convolutions by Winograd's minimal filtering, if float32 may be computed with lower precision: a quarter of the
// multiplications, but of larger terms. Each thread takes some rows of tiles through input transform, products and
// output transform in its own memory.

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/no_destroy.h"
#include "ops/conv/onednn_step.h"
#include "ops/conv/winograd_filter.h"
#include "ops/conv/winograd_kernels.h"
#include "ops/conv/winograd_products.h"
#include "ops/conv/winograd_rows.h"
#include "ops/conv/winograd_tiles.h"
#include "ops/onednn/engine.h"
#include "ops/onednn/packed_weights.h"
#include "ops/onednn/primitive_cache.h"
#include "ops/onednn/runs.h"
#include "ops/workspace.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

using dnnl::memory;

// The tiles of one thread's products: their planes fit its cache, but there are enough of them for a matrix product.
constexpr int64_t kPlanesBytes = int64_t{1} << 20;
constexpr int64_t kLeastTogether = 24;

// The products of `tiles` rows with each plane, on one thread.
struct ProductKey {
  int64_t planes = 0, tiles = 0, read = 0, made = 0;
};

std::shared_ptr<const WinogradProduct> product_of(const ProductKey& key) {
  static NoDestroy<PrimitiveCache<ProductKey, WinogradProduct>> cache(kCachedWinogradProducts);
  const ThreadScope scope(1);
  return cache.get().get(key, [&] {
    const auto planes = [&](int64_t channels) {
      return memory::desc({key.planes, key.tiles, channels}, memory::data_type::f32,
                          memory::dims{winograd_plane_stride(key.tiles, channels), channels, 1});
    };
    const memory::desc any({key.planes, key.read, key.made}, memory::data_type::f32, memory::format_tag::any);
    return make_winograd_product(planes(key.read), any, planes(key.made), false);
  });
}

// The filter's layout, as the key of its packed copies.
struct FilterKey {
  int64_t planes = 0;
  int64_t kind = 0;
  int64_t read = 0, made = 0;
  int64_t out_stride = 0, in_stride = 0, row_stride = 0, column_stride = 0;
};

class Winograd final : public FusionRoot {
 public:
  // Throws dnnl::error if oneDNN has no such product, or if the filter cannot be packed for it.
  explicit Winograd(const ConvProblem& problem)
      : p_(problem),
        tile_(tile_of(problem, problem.made())),
        tiles_down_(tiles_along(made().sizes[1], tile_)),
        tiles_across_(tiles_along(made().sizes[2], tile_)),
        threads_(onednn_threads(problem.flops())) {
    at_once_ =
        images_at_once(p_.batch, (p_.in.channels * p_.in.spatial_size() + p_.out.channels * p_.out.spatial_size()) *
                                     static_cast<int64_t>(sizeof(float)));
    const int64_t channels = read().channels + made().channels;
    // Each product reads the whole filter: tiles should have at least a quarter of its size.
    const int64_t least = std::max(kLeastTogether, read().channels * made().channels / channels / 4);
    const auto are_enough = [&](int64_t images) {
      return p_.batch % images == 0 && images * tiles_down_ * tiles_across_ >= least * threads_;
    };
    while (at_once_ < p_.batch && !are_enough(at_once_)) ++at_once_;
    const int64_t rows = at_once_ * tiles_down_;
    const int64_t fits = kPlanesBytes / (tile_.planes() * channels * static_cast<int64_t>(sizeof(float)));
    const int64_t together = std::max(least, fits) / tiles_across_;
    rows_ = std::clamp<int64_t>(together, 1, (rows + threads_ - 1) / threads_);
    whole_ = product_of({tile_.planes(), rows_ * tiles_across_, read().channels, made().channels});
    if (const int64_t left = rows % rows_; left != 0) {
      rest_ = product_of({tile_.planes(), left * tiles_across_, read().channels, made().channels});
    }
    const bool fits_both = rest_ == nullptr || rest_->weights == whole_->weights;
    if (!fits_both || !may_pack_winograd_filter(whole_->weights)) {
      throw dnnl::error(dnnl_unimplemented, "a filter in a layout of its own");
    }
    filter_at_ = space_.reserve(checked(whole_->weights.get_size()));
    offsets_at_ = space_.reserve(checked(made().channels) * sizeof(float));
    const int64_t tiles = rows_ * tiles_across_;
    const auto floats = [](int64_t count) { return checked(count) * sizeof(float); };
    slot_.reserve(floats(tile_.planes() * (winograd_plane_stride(tiles, read().channels) +
                                           winograd_plane_stride(tiles, made().channels))));
    buffer_at_ = slot_.reserve(floats(WinogradRows::buffer_size(tile_, tiles_across_)));
    scratchpad_at_ =
        slot_.reserve(checked(std::max(whole_->scratchpad_bytes, rest_ == nullptr ? 0 : rest_->scratchpad_bytes)));
    slots_at_ = space_.reserve(slot_.bytes() * threads_);
  }

  Checked workspace_bytes() const { return space_.bytes(); }

  // Whether the result is contiguous, image by image, as compute() announces it.
  bool is_fusible() const {
    const bool in_order = p_.batch == 1 || made().batch_stride == made().channels * made().spatial_size();
    return !made().is_blocked && in_order && is_dense(extents_of(made(), p_.batch));
  }
  MemoryAccess output() const override {
    MemoryAccess memory = memory_of(extents_of(made(), p_.batch), made().data, sizeof(float));
    memory.element_bytes = sizeof(float);
    memory.is_written = true;
    return memory;
  }
  void add_accesses(const void* workspace, std::vector<MemoryAccess>* to) const override {
    to->push_back(memory_of(extents_of(read(), p_.batch), read().data, sizeof(float)));
    to->push_back(memory_of(extents_of(p_.filter, p_.out.channels, p_.in.channels), p_.filter.data, sizeof(float)));
    if (p_.bias != nullptr) to->push_back(bias_access(p_));
    const auto* space = static_cast<const char*>(workspace);
    to->push_back({space, space + space_.bytes().bytes(), 0, true});
  }
  void compute(void* workspace, char* to, const OnReady& on_ready) const override {
    const int64_t image = this->made().channels * this->made().spatial_size();
    run(static_cast<char*>(workspace), to, [&](int64_t first, int64_t last) { on_ready(first * image, last * image); });
  }

  void run(char* space) const {
    run(space, made().data, [](int64_t, int64_t) {});
  }

 private:
  const Image& read() const { return p_.kind == ConvKind::kForward ? p_.in : p_.out; }
  const Image& made() const { return p_.made(); }
  // Zeros before the input, above and to the left.
  int64_t before(size_t dim) const {
    return p_.kind == ConvKind::kForward ? p_.padding[dim] : p_.filter.sizes[dim] - 1 - p_.padding[dim];
  }

  template <typename MadeImages>
  void run(char* space, char* to, const MadeImages& made_images) const {
    const ThreadScope scope(threads_);
    auto* offsets = reinterpret_cast<float*>(space + offsets_at_);
    if (p_.bias != nullptr) {
      read_bias(p_, offsets);
    } else {
      std::fill_n(offsets, made().channels, 0.0F);
    }
    const std::shared_ptr<void> packed = packed_filter();
    if (packed == nullptr) {
      pack_winograd_filter(p_, tile_, whole_->weights, threads_, reinterpret_cast<float*>(space + filter_at_));
    }
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
      made_images(image, image + at_once_);
    }
  }

  // Rows of tiles [first, last), numbered through all images.
  void run_rows(int64_t first, int64_t last, char* slot, void* filter, const float* offsets, float* to) const {
    const ThreadScope scope(1);
    const int64_t tiles = (last - first) * tiles_across_;
    const WinogradPlanes read_planes{winograd_plane_stride(tiles, read().channels), read().channels};
    const WinogradPlanes made_planes{winograd_plane_stride(tiles, made().channels), made().channels};
    auto* planes = reinterpret_cast<float*>(slot);
    float* products = planes + tile_.planes() * read_planes.plane_stride;
    auto* buffer = reinterpret_cast<float*>(slot + buffer_at_);
    const WinogradRows from(read(), tile_), back(made(), tile_);
    for (int64_t row = first; row < last; ++row) {
      const float* image = reinterpret_cast<const float*>(read().data) + row / tiles_down_ * from.image_stride();
      const int64_t y = row % tiles_down_ * tile_.made - before(1);
      float* tile = planes + (row - first) * tiles_across_ * read_planes.tile_stride;
      for (int64_t c = 0; c < read().channels; c += kWinogradChannels) {
        from.read(image, {c, y, -before(2), tiles_across_}, tile_.read(), winograd_image, read_planes, tile + c,
                  buffer);
      }
    }
    const WinogradProduct& product = last - first == rows_ ? *whole_ : *rest_;
    const std::array<void*, 4> arguments{planes, filter, products, slot + scratchpad_at_};
    product.runs->execute(arguments);
    for (int64_t row = first; row < last; ++row) {
      float* image = to + row / tiles_down_ * back.image_stride();
      const float* tile = products + (row - first) * tiles_across_ * made_planes.tile_stride;
      for (int64_t c = 0; c < made().channels; c += kWinogradChannels) {
        back.write(tile + c, made_planes, offsets + c, {c, row % tiles_down_ * tile_.made, 0, tiles_across_}, image,
                   buffer);
      }
    }
  }

  std::shared_ptr<void> packed_filter() const {
    const Filter& f = p_.filter;
    const FilterKey key{tile_.planes(),  static_cast<int64_t>(p_.kind),
                        read().channels, made().channels,
                        f.out_stride,    f.in_stride,
                        f.strides[1],    f.strides[2]};
    const std::string_view layout(reinterpret_cast<const char*>(&key), sizeof key);
    return PackedWeights::get().find(
        {f.source.address, f.source.bytes, layout}, [&] { return whole_->weights; },
        [&](void* to) { pack_winograd_filter(p_, tile_, whole_->weights, threads_, static_cast<float*>(to)); });
  }

  const ConvProblem p_;
  const WinogradTile tile_;
  const int64_t tiles_down_, tiles_across_;  // per image
  const int threads_;
  int64_t at_once_ = 1;  // images per run
  int64_t rows_ = 1;     // rows of tiles per thread's product
  std::shared_ptr<const WinogradProduct> whole_, rest_;
  Workspace space_;
  size_t filter_at_ = 0, offsets_at_ = 0, slots_at_ = 0;
  Workspace slot_;  // per thread: planes and products, buffer, scratchpad
  size_t buffer_at_ = 0, scratchpad_at_ = 0;
};

}  // namespace

std::optional<Step> winograd_convolution(const ConvProblem& p) {
  if (p.kind == ConvKind::kFilterGradient || !is_winograds(p)) return std::nullopt;
  if (!has_enough_tiles(p.made(), p.batch, tile_of(p, p.made()))) return std::nullopt;
  return onednn_step<Winograd>(p);
}

}  // namespace softnpu
