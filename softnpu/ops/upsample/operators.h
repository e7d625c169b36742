#pragma once
// What operators.txt plans with: torch.nn.functional.interpolate and its gradients. Images are [N, C, spatial] or
// [C, spatial] of a floating-point dtype, nearest ones of any real dtype but bool; sizes of the result are
// `output_size`.

#include <array>

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"
#include "ops/upsample/taps.h"

namespace softnpu {

struct UpsampleAttributes {
  Interpolation mode;
  const aclIntArray& output_size;
  bool align_corners;
  // How much larger the result is in each of its one to three dimensions; 0 or less: as the sizes say.
  std::array<double, 3> scales;
};

Status upsample(const UpsampleAttributes& attributes, size_t dims, const aclTensor& self, const aclTensor& out,
                Plan* plan);
// `input_size`: all sizes of `grad_input`.
Status upsample_backward(const UpsampleAttributes& attributes, size_t dims, const aclTensor& grad,
                         const aclIntArray& input_size, const aclTensor& grad_input, Plan* plan);

}  // namespace softnpu
