// Batched matrix products over the planes of Winograd tiles, by oneDNN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ops/blas/onednn/primitive_cache.h"
#include "ops/blas/onednn/runs.h"

namespace softnpu {

// The number of floats between planes of rows x channels. With a power of two the planes would share the same cache
// sets.
constexpr int64_t winograd_plane_stride(int64_t rows, int64_t channels) { return rows * channels + 16; }

struct WinogradProduct {
  dnnl::memory::desc weights;
  std::unique_ptr<PrimitiveRuns> runs;  // arguments: src, weights, dst, scratchpad
  size_t scratchpad_bytes = 0;
};

// dst = src x weights for each plane; with `adds`, dst += src x weights. `weights` may leave its layout to oneDNN.
// Throws dnnl::error if oneDNN has no such product.
std::shared_ptr<const WinogradProduct> make_winograd_product(const dnnl::memory::desc& src,
                                                             const dnnl::memory::desc& weights,
                                                             const dnnl::memory::desc& dst, bool adds);

// The products of `tiles` rows of `read` channels with each plane of `output` output channels, on one thread.
struct WinogradProductKey {
  int64_t planes = 0, tiles = 0, read = 0, output = 0;
};
// Cached; the layout of the weights is oneDNN's choice. Throws dnnl::error if oneDNN has no such product.
std::shared_ptr<const WinogradProduct> winograd_product_of(const WinogradProductKey& key);

// The capacity of the caches of products.
constexpr size_t kCachedWinogradProducts = 128;

}  // namespace softnpu
