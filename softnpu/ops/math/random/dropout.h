#pragma once
// Bit masks for dropout, and their application.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "ops/math/random/source.h"

namespace softnpu {

// One bit per element of `shape`, 0 with probability `prob`; unused bits of `mask` become 0. `mask`: uint8, dense, at
// least one byte per eight elements.
Status dropout_mask(const aclIntArray& shape, double prob, const RandomSeed& seed, const aclTensor& mask, Plan* plan);

// out = self / (1 - prob) where the mask has a 1, else 0. Bits are in the order of the elements' indices.
Status dropout(const aclTensor& self, const aclTensor& mask, double prob, const aclTensor& out, Plan* plan);

// Both of the above; `noise_shape` must be null.
Status dropout(const aclTensor& input, const aclTensor* noise_shape, double prob, const RandomSeed& seed,
               const aclTensor& out, const aclTensor& mask, Plan* plan);

}  // namespace softnpu
