#pragma once
// A contiguous tensor whose elements are all one value.

#include "nnopbase/plan.h"
#include "ops/core/iterate/space.h"
#include "ops/math/elementwise/map.h"

namespace softnpu {

// Plans a mapping whose inputs are all scalars, to the only operand of `space`. False, with no plan, where that operand
// has gaps, or is so large that its stores should not go through the caches.
bool plan_fill(const Mapping& mapping, std::span<const MapInput> inputs, const Space& space, Plan* plan);

}  // namespace softnpu
