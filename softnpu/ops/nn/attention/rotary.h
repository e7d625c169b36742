#pragma once
// Rotary position embedding (Su et al., 2021) and softmax of masked rows.

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// out = x cos + rotated(x) sin, where cos and sin are broadcast. Modes: 0, pairs are (i, i + n / 2) of a row; 1,
// adjacent elements.
Status rotate(const aclTensor& x, const aclTensor& cos, const aclTensor& sin, int64_t mode, const aclTensor& out,
              Plan* plan);
// `rotate_matrix` must be null.
Status rotate(const aclTensor& x, const aclTensor& cos, const aclTensor& sin, int64_t mode,
              const aclTensor* rotate_matrix, const aclTensor& out, Plan* plan);
// Pairs are adjacent elements of x, and of the result elements i and i + n / 2; so are cos and sin.
Status rotate_to_halves(const aclTensor& x, const aclTensor& cos, const aclTensor& sin, const aclTensor& out,
                        Plan* plan);
// Without x the gradients of cos and sin are not computed.
Status rotate_grad(const aclTensor& grad, const aclTensor& cos, const aclTensor& sin, const aclTensor* x, int64_t mode,
                   const aclTensor& dx, const aclTensor* dcos, const aclTensor* dsin, Plan* plan);
// Query and key in place; `mode` is "half" or "interleave".
Status rotate_both(const aclTensor& query, const aclTensor& key, const aclTensor& cos, const aclTensor& sin,
                   const char* mode, Plan* plan);

// softmax(scale x) of each row; masked scores are set to -10000. With `triangular` the mask is not read: elements right
// of the diagonal are masked.
Status masked_softmax(const aclTensor& x, const aclTensor* mask, double scale, bool triangular, const aclTensor& out,
                      Plan* plan);
Status masked_softmax_grad(const aclTensor& grad, const aclTensor& y, const aclTensor* mask, double scale,
                           bool triangular, const aclTensor& out, Plan* plan);

}  // namespace softnpu
