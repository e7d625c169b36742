#pragma once

#include <ATen/core/Tensor.h>

namespace torch_npu {

// Whether `tensor` has a tangent for forward-mode differentiation.
inline bool has_tangent(const at::Tensor& tensor) { return tensor._fw_grad(/*level=*/0).defined(); }

}  // namespace torch_npu
