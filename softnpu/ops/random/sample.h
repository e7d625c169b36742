#pragma once
// Samples of indices.

#include "nnopbase/executor.h"
#include "ops/random/source.h"

namespace softnpu {

// The numbers 0 to n - 1 in a random order, all orders equally likely but for the length of the numbers behind them.
Status permutation(int64_t n, const RandomSeed& seed, const aclTensor& out, Plan* plan);

// Indices of self's last dimension, drawn with the probabilities that a row (of one or two dimensions) has up to a
// factor. A row with a negative or infinite number, with NaN or too few above 0 is an error of the run.
Status multinomial(const aclTensor& self, int64_t num_samples, bool replacement, const RandomSeed& seed,
                   const aclTensor& out, Plan* plan);

}  // namespace softnpu
