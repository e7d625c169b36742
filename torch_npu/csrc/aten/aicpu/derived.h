#pragma once
// Quantized and nested tensors, which have more state than sizes and strides. These functions create one over another
// storage, with the same state.

#include <ATen/core/Tensor.h>

namespace torch_npu::aicpu {

// True for a tensor whose kernels are registered under the plain CPU key.
inline bool is_plain_cpu(const at::Tensor& t) { return t.key_set().has(c10::DispatchKey::CPU); }

// `like` is quantized. The quantizer is shared; per-channel data of a CPU tensor's are copied to host memory, since the
// tensors from which it was made may be CPU views.
at::Tensor quantized_like(c10::Storage storage, c10::DispatchKey backend, const at::Tensor& like);

// `like` is a nested tensor with strided layout. Its sizes, strides and offsets are tensors in host memory: shared with
// an npu tensor, but copied from a kernel's result, for the same reason.
at::Tensor nested_like(c10::Storage storage, c10::DispatchKey backend, const at::Tensor& like);

}  // namespace torch_npu::aicpu
