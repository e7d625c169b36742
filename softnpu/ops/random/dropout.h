#pragma once
// Masks of bits, and what they keep.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "ops/random/source.h"

namespace softnpu {

// A bit for each element of `shape`, 0 with probability `prob`; what is left of `mask` becomes 0. `mask`: uint8, dense,
// of a byte for eight elements at least.
Status dropout_mask(const aclIntArray& shape, double prob, const RandomSeed& seed, const aclTensor& mask, Plan* plan);

// out = self / (1 - prob) where the mask says so, else 0. The elements are counted in the order of their indices.
Status dropout(const aclTensor& self, const aclTensor& mask, double prob, const aclTensor& out, Plan* plan);

// Both; `noise_shape` has to be null.
Status dropout(const aclTensor& input, const aclTensor* noise_shape, double prob, const RandomSeed& seed,
               const aclTensor& out, const aclTensor& mask, Plan* plan);

}  // namespace softnpu
