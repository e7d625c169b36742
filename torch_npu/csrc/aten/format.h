#pragma once
// Tensors in private formats.

#include <ATen/core/Tensor.h>

#include "core/format.h"

namespace torch_npu {

// A contiguous, uninitialised npu tensor in `format`. `blocks`, if defined, is the data type of FRACTAL_NZ's blocks.
at::Tensor empty_in_format(at::IntArrayRef sizes, at::ScalarType dtype, aclFormat format, aclDataType blocks,
                           c10::DeviceIndex device);

// A new tensor with the elements of `input`, in a private format.
at::Tensor cast_to_blocked_format(const at::Tensor& input, aclFormat format, aclDataType blocks);

}  // namespace torch_npu
