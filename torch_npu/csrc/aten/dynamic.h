#pragma once
// Operators whose result sizes depend on the values.

#include <ATen/core/Tensor.h>

#include <optional>

namespace torch_npu {

// The elements of `self` that `mask` chooses, in logical order; none if aclnn does not take the call. Waits for the
// operator.
std::optional<at::Tensor> try_masked_select(const at::Tensor& self, const at::Tensor& mask);

}  // namespace torch_npu
