#pragma once
// How sweeps go together.

#include "nnopbase/sweep.h"

namespace softnpu {

// Runs all of `sweeps`, which count_together has let through, tile by tile. `cost`: of all their elements, in the
// operations that threads_for counts.
void run_sweeps(std::span<const Sweep* const> sweeps, double cost);

}  // namespace softnpu
