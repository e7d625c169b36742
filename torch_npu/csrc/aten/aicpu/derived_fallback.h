#pragma once

#include <ATen/core/boxing/KernelFunction.h>

namespace torch_npu::aicpu {

// The fallback of sparse, quantized and nested tensors: on the bytes of their parts wherever the host can read them.
// Copies of whole tensors would come here again.
void derived_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace torch_npu::aicpu
