#pragma once
// Formats of tensors, as numbers of aclFormat.

#include <cstdint>
#include <vector>

#include "torch_npu/csrc/aten/Tensor.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"

namespace at_npu::native {

TORCH_NPU_API int64_t get_npu_format(const at::Tensor& self);
// The sizes in memory: those of the tensor, unless its storage has a private format.
TORCH_NPU_API std::vector<int64_t> get_npu_storage_sizes(const at::Tensor& self);
// The tensor in another format; itself if it has it.
TORCH_NPU_API at::Tensor npu_format_cast(const at::Tensor& self, int64_t acl_format);
// An uninitialised tensor. Private formats need torch.npu.config.allow_internal_format.
TORCH_NPU_API at::Tensor empty_with_format(c10::IntArrayRef sizes, const c10::TensorOptions& options, int64_t format,
                                           bool keep_format = false);

}  // namespace at_npu::native
