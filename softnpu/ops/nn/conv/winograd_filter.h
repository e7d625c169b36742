#pragma once
// 3 x 3 filters transformed for Winograd's convolution, in the layout of the second factor of oneDNN's product: [planes
// of a tile, input channels, output channels].

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "ops/nn/conv/problem.h"
#include "ops/nn/conv/winograd_kernels.h"

namespace softnpu {

// Whether pack_winograd_filter() can write `layout`.
bool may_pack_winograd_filter(const dnnl::memory::desc& layout);

// Offsets in a packed filter's layout, in elements: an element's offset is the sum over its three indices.
struct WinogradFilterOffsets {
  std::vector<int64_t> plane, read, output;
};
WinogradFilterOffsets winograd_filter_offsets(const dnnl::memory::desc& layout);

// Transforms as many output channels of the float32 filter of `problem` as `offsets` has, from `first_implementation`
// on, and writes them to `to`.
void pack_winograd_filter(const ConvProblem& problem, WinogradTile tile, const WinogradFilterOffsets& offsets,
                          int64_t first_implementation, int threads, float* to);

}  // namespace softnpu
