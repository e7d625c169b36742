#pragma once
// The types that the lists of ATen/autocast_mode.h use without their namespace. Up to torch 2.12 there is one more.

#include <ATen/core/Tensor.h>
#include <torch/version.h>

namespace torch_npu::compat::autocast_names {

using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13
using at::DimnameList;
#endif

}  // namespace torch_npu::compat::autocast_names
