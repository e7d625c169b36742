#pragma once
// What a CPU kernel does not ask about its arguments, and reads past them for.

#include <ATen/core/Tensor.h>

namespace torch_npu::aicpu {

// lu_unpack reads as many pivots as the matrices have rows or columns.
void check_pivots(const at::Tensor& lu, const at::Tensor& pivots);

}  // namespace torch_npu::aicpu
