// Gradients of 3 x 3 filters by Winograd's minimal filtering, if float32 may be computed with lower precision. For each
// plane of the tiles the gradient is one product, whose sum runs over all tiles of all images: [channels of out, tiles]
// times [tiles, channels of in]. As many tiles as fit a memory limit are transformed at a time, and their products are
// accumulated.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/no_destroy.h"
#include "ops/blas/onednn/engine.h"
#include "ops/blas/onednn/primitive_cache.h"
#include "ops/core/workspace.h"
#include "ops/nn/conv/onednn_step.h"
#include "ops/nn/conv/winograd_products.h"
#include "ops/nn/conv/winograd_rows.h"
#include "ops/nn/conv/winograd_tiles.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

using dnnl::memory;

// The memory limit for transformed tiles.
constexpr int64_t kPlanesBytes = int64_t{16} << 20;

// The products of all planes of `tiles` tiles.
struct ProductKey {
  int64_t planes = 0, tiles = 0, in = 0, out = 0;
  int64_t adds = 0;  // accumulates onto earlier tiles
  int64_t threads = 0;
};

std::shared_ptr<const WinogradProduct> product_of(const ProductKey& key) {
  static NoDestroy<PrimitiveCache<ProductKey, WinogradProduct>> cache(kCachedWinogradProducts);
  return cache.get().get(key, [&] {
    const auto desc = [&key](int64_t rows, int64_t columns, const memory::dims& strides) {
      return memory::desc({key.planes, rows, columns}, memory::data_type::f32, strides);
    };
    const memory::desc gradients = desc(key.out, key.tiles, {winograd_plane_stride(key.tiles, key.out), 1, key.out});
    const memory::desc images = desc(key.tiles, key.in, {winograd_plane_stride(key.tiles, key.in), key.in, 1});
    const memory::desc sums = desc(key.out, key.in, {winograd_plane_stride(key.out, key.in), key.in, 1});
    return make_winograd_product(gradients, images, sums, key.adds != 0);
  });
}

class FilterGradient final {
 public:
  // Throws dnnl::error if oneDNN has no such product.
  explicit FilterGradient(const ConvProblem& problem)
      : p_(problem),
        tile_(tile_of(problem, problem.out)),
        tiles_down_(tiles_along(problem.out.sizes[1], tile_)),
        tiles_across_(tiles_along(problem.out.sizes[2], tile_)),
        threads_(onednn_threads(problem.flops())) {
    const int64_t rows = p_.batch * tiles_down_;
    const int64_t row_bytes =
        tiles_across_ * tile_.planes() * (p_.in.channels + p_.out.channels) * static_cast<int64_t>(sizeof(float));
    const int64_t parts = (rows * row_bytes + kPlanesBytes - 1) / kPlanesBytes;
    rows_ = (rows + parts - 1) / parts;
    const ThreadScope scope(threads_);
    for (int64_t row = 0; row < rows; row += rows_) {
      const int64_t tiles = std::min(rows_, rows - row) * tiles_across_;
      products_.push_back(product_of({tile_.planes(), tiles, p_.in.channels, p_.out.channels, row > 0, threads_}));
    }
    const auto floats = [](int64_t count) { return checked(count) * sizeof(float); };
    const auto planes = [&](int64_t lines, int64_t channels) {
      return space_.reserve(floats(tile_.planes() * winograd_plane_stride(lines, channels)));
    };
    images_at_ = planes(rows_ * tiles_across_, p_.in.channels);
    gradients_at_ = planes(rows_ * tiles_across_, p_.out.channels);
    sums_at_ = planes(p_.out.channels, p_.in.channels);
    slot_.reserve(floats(WinogradRows::buffer_size(tile_, tiles_across_)));
    slots_at_ = space_.reserve(slot_.bytes() * threads_);
    size_t scratchpad_bytes = 0;
    for (const auto& product : products_) scratchpad_bytes = std::max(scratchpad_bytes, product->scratchpad_bytes);
    scratchpad_at_ = space_.reserve(checked(scratchpad_bytes));
  }

  Checked workspace_bytes() const { return space_.bytes(); }
  void run(char* space) const {
    const ThreadScope scope(threads_);
    const int64_t rows = p_.batch * tiles_down_;
    for (int64_t row = 0; row < rows; row += rows_) {
      const int64_t count = std::min(rows_, rows - row);
      parallel_for_slots(count, 1, threads_, [&](int64_t first, int64_t last, int slot) {
        auto* buffer = reinterpret_cast<float*>(space + slots_at_ + static_cast<size_t>(slot) * slot_.bytes().bytes());
        for (int64_t i = first; i < last; ++i) transform(row + i, i, count * tiles_across_, space, buffer);
      });
      const std::array<void*, 4> arguments{space + gradients_at_, space + images_at_, space + sums_at_,
                                           space + scratchpad_at_};
      products_[static_cast<size_t>(row / rows_)]->runs->execute(arguments);
    }
    write(reinterpret_cast<const float*>(space + sums_at_));
  }

 private:
  // Transforms a row of tiles, numbered through all images, into row `at` of the `tiles` tiles in `space`.
  void transform(int64_t row, int64_t at, int64_t tiles, char* space, float* buffer) const {
    const int64_t image = row / tiles_down_;
    const int64_t y = row % tiles_down_ * tile_.output;
    const auto to = [&](size_t planes_at, int64_t channels) {
      return reinterpret_cast<float*>(space + planes_at) + at * tiles_across_ * channels;
    };
    const WinogradRows in(p_.in, tile_), out(p_.out, tile_);
    const WinogradPlanes in_planes{winograd_plane_stride(tiles, p_.in.channels), p_.in.channels};
    const WinogradPlanes out_planes{winograd_plane_stride(tiles, p_.out.channels), p_.out.channels};
    for (int64_t c = 0; c < p_.in.channels; c += kWinogradChannels) {
      in.read(reinterpret_cast<const float*>(p_.in.data) + image * in.image_stride(),
              {c, y - p_.padding[1], -p_.padding[2], tiles_across_}, tile_.read(), winograd_image, in_planes,
              to(images_at_, p_.in.channels) + c, buffer);
    }
    for (int64_t c = 0; c < p_.out.channels; c += kWinogradChannels) {
      out.read(reinterpret_cast<const float*>(p_.out.data) + image * out.image_stride(), {c, y, 0, tiles_across_},
               tile_.output, winograd_result_gradient, out_planes, to(gradients_at_, p_.out.channels) + c, buffer);
    }
  }

  void write(const float* sums) const {
    const Filter& f = p_.filter;
    parallel_for(p_.out.channels, 8, threads_, [&](int64_t first, int64_t last) {
      alignas(64) float taps[9 * kWinogradChannels];
      for (int64_t out = first; out < last; ++out) {
        for (int64_t c = 0; c < p_.in.channels; c += kWinogradChannels) {
          winograd_filter_gradient(tile_, sums + out * p_.in.channels + c,
                                   winograd_plane_stride(p_.out.channels, p_.in.channels), taps);
          float* filter = reinterpret_cast<float*>(f.data) + out * f.out_stride + c * f.in_stride;
          if (f.has_contiguous_taps()) {
            to_positions(taps, 9, filter, f.in_stride);
            continue;
          }
          for (int64_t i = 0; i < kWinogradChannels; ++i) {
            for (int64_t tap = 0; tap < 9; ++tap) {
              filter[i * f.in_stride + tap / 3 * f.strides[1] + tap % 3 * f.strides[2]] =
                  taps[tap * kWinogradChannels + i];
            }
          }
        }
      }
    });
  }

  const ConvProblem p_;
  const WinogradTile tile_;
  const int64_t tiles_down_, tiles_across_;  // per image
  const int threads_;
  int64_t rows_ = 1;                                              // rows of tiles per run
  std::vector<std::shared_ptr<const WinogradProduct>> products_;  // one per run, in order
  Workspace space_;
  size_t images_at_ = 0, gradients_at_ = 0, sums_at_ = 0, slots_at_ = 0, scratchpad_at_ = 0;
  Workspace slot_;  // per thread: buffer
};

}  // namespace

Attempt<Step> winograd_gradient(const ConvProblem& p) {
  if (const char* why = refused_by_winograd(p)) return Refusal{why};
  if (!has_enough_tiles(p.out, p.batch, tile_of(p, p.out))) return Refusal{kRefusedTiles};
  return onednn_step<FilterGradient>(p);
}

}  // namespace softnpu
