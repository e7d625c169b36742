#pragma once
// Filters of 3 x 3 as Winograd's convolution multiplies them, in the layout that oneDNN's product wants its second
// factor in: [planes of a tile, channels that are read, channels that are made].

#include <oneapi/dnnl/dnnl.hpp>

#include "ops/conv/problem.h"
#include "ops/conv/winograd_kernels.h"

namespace softnpu {

// Whether `layout` is one that pack_winograd_filter() writes.
bool may_pack_winograd_filter(const dnnl::memory::desc& layout);
// Brings the filter of `problem`, of float32, to `to`, in `layout`.
void pack_winograd_filter(const ConvProblem& problem, WinogradTile tile, const dnnl::memory::desc& layout, int threads,
                          float* to);

}  // namespace softnpu
