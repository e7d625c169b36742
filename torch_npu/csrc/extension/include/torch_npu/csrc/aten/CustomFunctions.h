#pragma once
// Operators of namespace npu as functions of at_npu::native::custom_ops, which call the dispatcher.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "torch_npu/csrc/aten/GeneratedFunctions.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"

namespace at_npu::native::custom_ops {

// Formats are numbers of aclFormat.
TORCH_NPU_API int64_t get_npu_format(const at::Tensor& self);
// Elements in memory, with the padding of a private format.
TORCH_NPU_API int64_t get_storage_size(const at::Tensor& self);
TORCH_NPU_API at::Tensor npu_format_cast(const at::Tensor& self, int64_t acl_format,
                                         std::optional<int64_t> customize_dtype = std::nullopt,
                                         std::optional<int64_t> input_dtype = std::nullopt);
// In the format of `dst`.
TORCH_NPU_API at::Tensor npu_format_cast(const at::Tensor& self, const at::Tensor& dst,
                                         std::optional<int64_t> customize_dtype = std::nullopt,
                                         std::optional<int64_t> input_dtype = std::nullopt);
TORCH_NPU_API at::Tensor& npu_format_cast_(at::Tensor& self, int64_t acl_format,
                                           std::optional<int64_t> customize_dtype = std::nullopt,
                                           std::optional<int64_t> input_dtype = std::nullopt);
// The values of `src`, in the format of `self`.
TORCH_NPU_API at::Tensor& npu_format_cast_(at::Tensor& self, const at::Tensor& src,
                                           std::optional<int64_t> customize_dtype = std::nullopt,
                                           std::optional<int64_t> input_dtype = std::nullopt);
TORCH_NPU_API at::Tensor empty_with_format(at::IntArrayRef size, std::optional<at::ScalarType> dtype = std::nullopt,
                                           std::optional<at::Layout> layout = std::nullopt,
                                           std::optional<at::Device> device = std::nullopt,
                                           std::optional<bool> pin_memory = std::nullopt, int64_t acl_format = 2,
                                           std::optional<int64_t> base_addr_aligned_kb = std::nullopt);
TORCH_NPU_API at::Tensor unsafe_empty_with_format(at::IntArrayRef size,
                                                  std::optional<at::ScalarType> dtype = std::nullopt,
                                                  std::optional<at::Layout> layout = std::nullopt,
                                                  std::optional<at::Device> device = std::nullopt,
                                                  std::optional<bool> pin_memory = std::nullopt, int64_t acl_format = 2,
                                                  bool keep_format = false);
// The storage of `dst`, with all views on it, gets the memory of `src` from its element `index` on. Returns 0.
TORCH_NPU_API int64_t npu_change_data_ptr(const at::Tensor& dst, const at::Tensor& src, int64_t index);

}  // namespace at_npu::native::custom_ops
