// Winograd's convolution by large filters: each call transforms them block by block of output channels, in the caches.
// The transformed filter is up to four times as large as the plain one and is never in memory as a whole.

#include <algorithm>
#include <array>
#include <memory>

#include "base/no_destroy.h"
#include "ops/blas/onednn/engine.h"
#include "ops/blas/onednn/primitive_cache.h"
#include "ops/nn/conv/onednn_step.h"
#include "ops/nn/conv/winograd_filter.h"
#include "ops/nn/conv/winograd_products.h"
#include "ops/nn/conv/winograd_root.h"
#include "ops/nn/conv/winograd_tiles.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Smaller filters, transformed as a whole, fit a cache.
constexpr int64_t kMinFilterBytes = int64_t{4} << 20;
// Transformed images are read once per block of output channels: they fit the last-level cache.
constexpr int64_t kMaxPlanesBytes = int64_t{8} << 20;

// Output channels at a time: with fewer a product has too few columns, with more the filter's block leaves the cache.
constexpr int64_t kBlock = 32;

// The output channels at a time with which `threads` threads work at least four fifths of the time; 0 if there are too
// few channels.
int64_t block_of(int64_t channels, int threads) {
  for (const int64_t block : {kBlock, kWinogradChannels}) {
    if (channels % block != 0) continue;
    const int64_t blocks = channels / block;
    const int64_t rounds = (blocks + threads - 1) / threads;
    if (5 * blocks >= 4 * rounds * threads) return block;
  }
  return 0;
}

int64_t planes_bytes(const ConvProblem& p, WinogradTile tile) {
  const Image& read = p.kind == ConvKind::kForward ? p.in : p.out;
  return tile.planes() * tiles_of(p.output(), 1, tile) * read.channels * static_cast<int64_t>(sizeof(float));
}

// The products with a block of output channels, and where its filter is packed to.
struct BlockProduct {
  std::shared_ptr<const WinogradProduct> product;
  WinogradFilterOffsets offsets;
};

std::shared_ptr<const BlockProduct> product_of(const WinogradProductKey& key) {
  static NoDestroy<PrimitiveCache<WinogradProductKey, BlockProduct>> cache(kCachedWinogradProducts);
  return cache.get().get(key, [&] {
    auto product = winograd_product_of(key);
    if (!may_pack_winograd_filter(product->weights)) {
      throw dnnl::error(dnnl_unimplemented, "a filter in a layout of its own");
    }
    const dnnl::memory::desc weights = product->weights;
    return std::make_shared<const BlockProduct>(BlockProduct{std::move(product), winograd_filter_offsets(weights)});
  });
}

class StreamedWinograd final : public WinogradRoot {
 public:
  // Throws dnnl::error if oneDNN has no such product, or if the filter cannot be packed for it.
  explicit StreamedWinograd(const ConvProblem& problem) : WinogradRoot(problem) {
    // Each run transforms the filter: as few as possible, of about equal sizes.
    const int64_t fits = std::max<int64_t>(1, kMaxPlanesBytes / planes_bytes(p_, tile_));
    const int64_t runs = (p_.batch + fits - 1) / fits;
    at_once_ = (p_.batch + runs - 1) / runs;
    block_ = block_of(output_image().channels, threads_);
    whole_ = product_of({tile_.planes(), tiles(at_once_), read().channels, block_});
    const int64_t rest = p_.batch % at_once_;
    rest_ = rest == 0 ? whole_ : product_of({tile_.planes(), tiles(rest), read().channels, block_});
    const auto floats = [](int64_t count) { return checked(count) * sizeof(float); };
    offsets_at_ = space_.reserve(floats(output_image().channels));
    planes_at_ = space_.reserve(floats(tile_.planes() * winograd_plane_stride(tiles(at_once_), read().channels)));
    filter_at_ =
        slot_.reserve(checked(std::max(whole_->product->weights.get_size(), rest_->product->weights.get_size())));
    products_at_ = slot_.reserve(floats(tile_.planes() * winograd_plane_stride(tiles(at_once_), block_)));
    buffer_at_ = slot_.reserve(floats(WinogradRows::buffer_size(tile_, tiles_across_)));
    scratchpad_at_ =
        slot_.reserve(checked(std::max(whole_->product->scratchpad_bytes, rest_->product->scratchpad_bytes)));
    slots_at_ = space_.reserve(slot_.bytes() * threads_);
  }
  using WinogradRoot::run;

 private:
  int64_t tiles(int64_t images) const { return images * tiles_per_image(); }
  char* slot(char* space, int index) const {
    return space + slots_at_ + static_cast<size_t>(index) * slot_.bytes().bytes();
  }

  void run(char* space, char* to, const OnImages& output_images) const override {
    const ThreadScope scope(threads_);
    auto* offsets = reinterpret_cast<float*>(space + offsets_at_);
    read_offsets(offsets);
    auto* planes = reinterpret_cast<float*>(space + planes_at_);
    for (int64_t image = 0; image < p_.batch; image += at_once_) {
      const int64_t images = std::min(at_once_, p_.batch - image);
      const WinogradPlanes read_planes{winograd_plane_stride(tiles(images), read().channels), read().channels};
      const int64_t begin = image * tiles_down_;
      parallel_for_slots(images * tiles_down_, 1, threads_, [&](int64_t first, int64_t last, int index) {
        auto* buffer = reinterpret_cast<float*>(slot(space, index) + buffer_at_);
        for (int64_t row = first; row < last; ++row) {
          read_row(begin + row, read_planes, planes + row * tiles_across_ * read_planes.tile_stride, buffer);
        }
      });
      parallel_for_slots(output_image().channels / block_, 1, threads_, [&](int64_t first, int64_t last, int index) {
        for (int64_t block = first; block < last; ++block) {
          run_block(block * block_, image, images, planes, slot(space, index), offsets, reinterpret_cast<float*>(to));
        }
      });
      output_images(image, image + images);
    }
  }

  // Computes output channels [channel, channel + block_) of `images` images from `image` on.
  void run_block(int64_t channel, int64_t image, int64_t images, float* planes, char* slot, const float* offsets,
                 float* to) const {
    const ThreadScope scope(1);
    const BlockProduct& block_product = images == at_once_ ? *whole_ : *rest_;
    auto* filter = reinterpret_cast<float*>(slot + filter_at_);
    auto* products = reinterpret_cast<float*>(slot + products_at_);
    auto* buffer = reinterpret_cast<float*>(slot + buffer_at_);
    pack_winograd_filter(p_, tile_, block_product.offsets, channel, 1, filter);
    const std::array<void*, 4> arguments{planes, filter, products, slot + scratchpad_at_};
    block_product.product->runs->execute(arguments);
    const WinogradPlanes output_planes{winograd_plane_stride(tiles(images), block_), block_};
    for (int64_t row = 0; row < images * tiles_down_; ++row) {
      write_row(image * tiles_down_ + row, channel, channel + block_, output_planes,
                products + row * tiles_across_ * block_, offsets, to, buffer);
    }
  }

  int64_t at_once_ = 1;     // images per run; the last run has the rest
  int64_t block_ = kBlock;  // output channels that are computed at a time
  std::shared_ptr<const BlockProduct> whole_, rest_;
  size_t offsets_at_ = 0, planes_at_ = 0, slots_at_ = 0;
  Workspace slot_;  // per thread: a block of the filter, its products, buffer, scratchpad
  size_t filter_at_ = 0, products_at_ = 0, buffer_at_ = 0, scratchpad_at_ = 0;
};

}  // namespace

Attempt<Step> streamed_winograd_convolution(const ConvProblem& p) {
  const WinogradTile tile = tile_of(p, p.output());
  const int64_t filter = tile.planes() * p.in.channels * p.out.channels * static_cast<int64_t>(sizeof(float));
  if (filter < kMinFilterBytes || planes_bytes(p, tile) > kMaxPlanesBytes) {
    return Refusal{"the filter is small, or the transformed images are large"};
  }
  if (block_of(p.output().channels, onednn_threads(p.flops())) == 0)
    return Refusal{"the channels have no blocks for the threads"};
  return onednn_step<StreamedWinograd>(p);
}

}  // namespace softnpu
