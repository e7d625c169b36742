#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/native/CPUFallback.h>

namespace torch_npu::aicpu {

// Runs any operator through ATen's CPU kernel on the npu tensors' own bytes, in the order of the current stream. On a
// device whose memory the host cannot read, through PyTorch's own fallback with copies.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// The same for an operator that is known here: Fallback<at::_ops::mm_out>::call(...).
template <typename Op>
using Fallback = at::native::call_fallback_fn<&fallback, Op>;

}  // namespace torch_npu::aicpu
