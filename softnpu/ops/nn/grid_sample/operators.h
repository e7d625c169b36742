#pragma once
// Planners for operators.txt: torch.nn.functional.grid_sample and its gradients. The input is [N, C, spatial], the grid
// [N, spatial of out, dims] and the result [N, C, spatial of out], of one floating-point dtype.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

struct GridAttributes {
  size_t dims;         // 2 or 3
  int64_t mode;        // GridMode; cubic in two dimensions only
  int64_t padding;     // GridPadding
  bool align_corners;  // whether -1 and 1 are the centers of the first and last value or their borders
};

Status grid_sampler(const GridAttributes& attributes, const aclTensor& input, const aclTensor& grid,
                    const aclTensor& out, Plan* plan);
// `mask`: which of the two gradients are computed; the other one may be null.
Status grid_sampler_backward(const GridAttributes& attributes, const aclTensor& grad, const aclTensor& input,
                             const aclTensor& grid, const aclBoolArray& mask, const aclTensor* input_grad,
                             const aclTensor* grid_grad, Plan* plan);

}  // namespace softnpu
