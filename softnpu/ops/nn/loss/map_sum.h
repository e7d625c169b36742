#pragma once
// out = (sum of f(in[i], ...)) / divisor over tensors broadcast to one shape, in one pass.

#include "ops/math/elementwise/map.h"

namespace softnpu {

// Plans it for a mapping in float32 or float64; `out` has one element. Sums are in float64.
Status plan_map_sum(const Mapping& mapping, std::initializer_list<MapInput> inputs, bool mean, const aclTensor& out,
                    Plan* plan);

}  // namespace softnpu
