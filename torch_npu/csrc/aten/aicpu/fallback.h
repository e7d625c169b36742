#pragma once

#include <ATen/core/boxing/KernelFunction.h>

namespace torch_npu::aicpu {

// Runs any operator through ATen's CPU kernel on the npu tensors' own bytes, in the order of the current stream. On a
// device whose memory the host cannot read, through PyTorch's own fallback with copies.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace torch_npu::aicpu
