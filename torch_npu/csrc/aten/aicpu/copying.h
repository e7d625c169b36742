#pragma once
// The CPU fallback with copies: operators run on copies of their arguments in host memory. It is the only way on a
// device whose memory the host cannot read, and a way to take the AI CPU route out of the picture on one that it can.

#include <ATen/core/boxing/KernelFunction.h>

#include <vector>

namespace torch_npu::aicpu {

// Whether operators of the AI CPU route run on copies instead.
bool copies_arguments();

// Switches between the two for all operators of that route. Not while other threads call operators.
void set_copies_arguments(bool on);

// One operator on copies. Throws where TORCH_NPU_FALLBACK_CPU_DISABLE=1 forbids it.
void copying_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// The names of all operators with an unboxed wrapper. Generated.
const std::vector<const char*>& wrapped_operators();
// Those, without overloads, whose CPU kernels read tensors of any strides as if they were dense. Generated.
const std::vector<const char*>& dense_operators();

}  // namespace torch_npu::aicpu
