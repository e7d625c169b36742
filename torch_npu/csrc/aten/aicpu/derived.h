#pragma once
// Quantized and nested tensors: a storage with more around it than sizes and strides. Each of these makes one over
// another storage, with the same surroundings.

#include <ATen/core/Tensor.h>

namespace torch_npu::aicpu {

// True for a tensor whose kernels stand under the plain CPU key.
inline bool is_plain_cpu(const at::Tensor& t) { return t.key_set().has(c10::DispatchKey::CPU); }

// `like` is quantized; its quantizer is shared, and what that holds for each channel is copied to host memory, since
// the tensors that it was made from may be cpu_views.
at::Tensor quantized_like(c10::Storage storage, c10::DispatchKey backend, const at::Tensor& like);

// `like` is a nested tensor of strided layout. Its sizes, strides and offsets are tensors in host memory: shared with
// an npu tensor, and copied from a kernel's result for the same reason.
at::Tensor nested_like(c10::Storage storage, c10::DispatchKey backend, const at::Tensor& like);

}  // namespace torch_npu::aicpu
