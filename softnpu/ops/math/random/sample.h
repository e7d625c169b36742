#pragma once
// Random samples of indices.

#include "nnopbase/executor.h"
#include "ops/math/random/source.h"

namespace softnpu {

// The numbers 0 to n - 1 in a random order. All orders are equally likely, up to the precision of the numbers.
Status permutation(int64_t n, const RandomSeed& seed, const aclTensor& out, Plan* plan);

// Indices of self's last dimension; a row (of one or two dimensions) has their probabilities up to a factor. A row with
// a negative or infinite number, NaN, or too few positive ones is an error of the run.
Status multinomial(const aclTensor& self, int64_t num_samples, bool replacement, const RandomSeed& seed,
                   const aclTensor& out, Plan* plan);

}  // namespace softnpu
