#pragma once
// 3 x 3 filters transformed for Winograd's convolution, in the layout of the second factor of oneDNN's product: [planes
// of a tile, input channels, output channels].

#include <oneapi/dnnl/dnnl.hpp>

#include "ops/conv/problem.h"
#include "ops/conv/winograd_kernels.h"

namespace softnpu {

// Whether pack_winograd_filter() can write `layout`.
bool may_pack_winograd_filter(const dnnl::memory::desc& layout);
// Transforms the float32 filter of `problem` and writes it to `to`, in `layout`.
void pack_winograd_filter(const ConvProblem& problem, WinogradTile tile, const dnnl::memory::desc& layout, int threads,
                          float* to);

}  // namespace softnpu
