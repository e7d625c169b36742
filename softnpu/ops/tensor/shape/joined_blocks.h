#pragma once
// Contiguous tensors joined along a dimension: each of the result's rows consists of a block of every tensor.

#include <span>

#include "base/status.h"
#include "nnopbase/plan.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Plans the copies from `tensors` to `out`, which they fill along dimension `along`, all with elements of one size.
// Sets *is_planned to false where a tensor is not contiguous, or where `out` is so large that its stores should not go
// through the caches.
Status plan_joined_blocks(std::span<const aclTensor* const> tensors, size_t along, const aclTensor& out,
                          Describe message, Plan* plan, bool* is_planned);

}  // namespace softnpu
