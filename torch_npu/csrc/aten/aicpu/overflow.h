#pragma once
// Overflow of results that the host computes: the runtime sees only those of its own operators.

#include <ATen/core/Tensor.h>

namespace torch_npu::aicpu {

// Checks a result of the operator `name` on `device`, as core/overflow.h says: `view` is its CPU tensor.
void check_overflow(const char* name, c10::DeviceIndex device, const at::Tensor& view);

}  // namespace torch_npu::aicpu
