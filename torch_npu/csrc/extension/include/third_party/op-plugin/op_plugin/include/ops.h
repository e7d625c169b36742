#pragma once
// Operators of namespace npu as functions of at_npu::native.

#include <ATen/core/Tensor.h>

#include <optional>

#include "torch_npu/csrc/aten/CustomFunctions.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"

namespace at_npu::native {

// A bit for each element of `size`, 1 where dropout with the probability `p` keeps it.
TORCH_NPU_API at::Tensor npu_dropout_gen_mask(const at::Tensor& self, at::IntArrayRef size, double p, int64_t seed,
                                              int64_t offset, std::optional<bool> parallel, std::optional<bool> sync);

}  // namespace at_npu::native
