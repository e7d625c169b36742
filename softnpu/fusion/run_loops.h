#pragma once
// Runs fused loops tile by tile.

#include <span>

#include "fusion/elementwise_loop.h"

namespace softnpu {

// Runs the elements [first, last) of all of `loops`, whose prologues are done and which may be fused, with the threads
// that their cost is worth.
void run_loops(std::span<const ElementwiseLoop* const> loops, int64_t first, int64_t last);

}  // namespace softnpu
