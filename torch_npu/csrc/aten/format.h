#pragma once
// Tensors in formats.

#include <ATen/core/Tensor.h>

#include "core/format.h"

namespace torch_npu {

// A contiguous, uninitialised npu tensor in `format`. FRACTAL_NZ's blocks are made for `blocks` where that is given.
at::Tensor empty_in_format(at::IntArrayRef sizes, at::ScalarType dtype, aclFormat format, aclDataType blocks,
                           c10::DeviceIndex device);

// The elements of `input` in a tensor of their own, in a private format.
at::Tensor cast_to_blocked_format(const at::Tensor& input, aclFormat format, aclDataType blocks);

}  // namespace torch_npu
