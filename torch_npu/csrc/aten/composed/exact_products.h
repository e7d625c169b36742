#pragma once
// Products of integers, and what their scales are.

#include <ATen/core/Tensor.h>

#include <optional>

namespace torch_npu::custom {

// The product of two int8 tensors in float32, rounded once.
at::Tensor exact_product(const at::Tensor& a, const at::Tensor& b);

// Scales in float32. An int64 has the bits of one, as npu_trans_quant_param gives it.
at::Tensor factors_of(const at::Tensor& scales);

// (weights + offset) scale in float32, of weights [K, N] in int8 with numbers [1], [N], [1, N], or [groups, N] of
// `group` rows each.
at::Tensor dequantized(const char* name, const at::Tensor& weights, const at::Tensor& scale,
                       const std::optional<at::Tensor>& offset, int64_t group);

}  // namespace torch_npu::custom
