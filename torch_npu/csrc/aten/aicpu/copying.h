#pragma once
// The CPU fallback with copies: operators run on copies of their arguments in host memory. It is the only fallback on a
// device whose memory the host cannot read; on others it allows to exclude the AI CPU route.

#include <ATen/core/boxing/KernelFunction.h>

#include <string_view>
#include <vector>

namespace torch_npu::aicpu {

// Whether operators of the AI CPU route run on copies.
bool copies_arguments();

// Sets copies_arguments() for all operators of that route. Must not be called while other threads call operators.
void set_copies_arguments(bool on);

// Runs one operator on copies. Throws if TORCH_NPU_FALLBACK_CPU_DISABLE=1. Once for each operator it warns that the
// operator falls back to `target`, if set_copies_arguments() asked for copies.
void run_on_copies(const c10::OperatorHandle& op, torch::jit::Stack* stack, const char* target);
void copying_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// The names of all operators with an unboxed wrapper. Generated.
const std::vector<const char*>& wrapped_operators();
// Names, without overloads, of operators whose CPU kernels read tensors of any strides as if they were dense.
// Generated.
const std::vector<const char*>& dense_operators();
// Names of operators whose CPU kernels read expanded tensors in place and take no temporaries for their elements,
// sorted. Generated.
const std::vector<std::string_view>& streaming_operators();

}  // namespace torch_npu::aicpu
