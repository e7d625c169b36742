#pragma once
// Planners for operators.txt: torch.nn.Unfold and Fold, in every dtype. Images are [N, C, H, W] or [C, H, W], columns
// [N, C * kH * kW, windows] or without N; attributes have one value or two.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

struct WindowAttributes {
  const aclIntArray& kernel;
  const aclIntArray& dilation;
  const aclIntArray& padding;
  const aclIntArray& stride;
};

Status im2col(const WindowAttributes& attributes, const aclTensor& self, const aclTensor& out, Plan* plan);
// Adds up the values of overlapping windows; `input_size` is the height and width of `out`.
Status col2im(const WindowAttributes& attributes, const aclTensor& self, const aclIntArray& input_size,
              const aclTensor& out, Plan* plan);

}  // namespace softnpu
