#pragma once
// How sweeps go together.

#include "nnopbase/sweep.h"

namespace softnpu {

// Runs the elements [first, last) of all of `sweeps`, which are prepared and may go together, tile by tile. `cost`: of
// one element of all of them, in the operations that threads_for counts.
void run_sweeps(std::span<const Sweep* const> sweeps, double cost, int64_t first, int64_t last);

}  // namespace softnpu
