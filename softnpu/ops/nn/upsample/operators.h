#pragma once
// Planners for operators.txt: torch.nn.functional.interpolate and its gradients. Images are [N, C, spatial] or [C,
// spatial] of a floating-point dtype, for nearest modes of any real dtype except bool; `output_size` are the sizes of
// the result.

#include <array>

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"
#include "ops/nn/upsample/taps.h"

namespace softnpu {

struct UpsampleAttributes {
  Interpolation mode;
  const aclIntArray& output_size;
  bool align_corners;
  // Scale factors of up to three dimensions; 0 or less: derived from the sizes.
  std::array<double, 3> scales;
};

Status upsample(const UpsampleAttributes& attributes, size_t dims, const aclTensor& self, const aclTensor& out,
                Plan* plan);
// `input_size`: all sizes of `grad_input`.
Status upsample_backward(const UpsampleAttributes& attributes, size_t dims, const aclTensor& grad,
                         const aclIntArray& input_size, const aclTensor& grad_input, Plan* plan);

}  // namespace softnpu
