#pragma once
// Tensors over memory that someone else owns.

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>

#include "torch_npu/csrc/core/npu/NPUMacros.h"

namespace at_npu::native {

// `data` is device memory, all within one allocation of the device; it must live as long as the tensor. Strides and the
// offset count elements; without strides the tensor is contiguous. `deleter` is called when the storage ends. Throws
// for memory of another device than `target_device`.
TORCH_NPU_API at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t storage_offset,
                                   const std::function<void(void*)>& deleter, const at::TensorOptions& options = {},
                                   std::optional<c10::Device> target_device = std::nullopt);
TORCH_NPU_API at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides,
                                   const std::function<void(void*)>& deleter, const at::TensorOptions& options = {},
                                   std::optional<c10::Device> target_device = std::nullopt);
TORCH_NPU_API at::Tensor from_blob(void* data, at::IntArrayRef sizes, std::function<void(void*)> deleter,
                                   const at::TensorOptions& options = {},
                                   std::optional<c10::Device> target_device = std::nullopt);
TORCH_NPU_API at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t storage_offset,
                                   const at::TensorOptions& options = {},
                                   std::optional<c10::Device> target_device = std::nullopt);
TORCH_NPU_API at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides,
                                   const at::TensorOptions& options = {});
TORCH_NPU_API at::Tensor from_blob(void* data, at::IntArrayRef sizes, std::optional<c10::Device> target_device,
                                   const at::TensorOptions& options = {});
TORCH_NPU_API at::Tensor from_blob(void* data, at::IntArrayRef sizes, const at::TensorOptions& options = {});

}  // namespace at_npu::native
