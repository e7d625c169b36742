#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/native/CPUFallback.h>

#include "aten/aicpu/cpu_view.h"

namespace torch_npu::aicpu {

// Runs any operator by ATen's CPU kernel, in the order of the current stream: on the npu tensors' own bytes, or on
// copies if copies_arguments(). Sparse, quantized and nested tensors are converted part by part. Raises the version
// counters of lists that the operator writes.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// The same for kernels that raise version counters themselves.
void run_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// The same with explicit `bytes`.
void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack, Bytes bytes);

// The same for an operator known at compile time: Fallback<at::_ops::mm_out>::call(...).
template <typename Op>
using Fallback = at::native::call_fallback_fn<&fallback, Op>;

}  // namespace torch_npu::aicpu
