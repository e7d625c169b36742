#pragma once
// Products of float8 and int8 with scales in the forms that operators take.

#include <ATen/core/Tensor.h>

#include <optional>

#include "aten/composed/operands.h"

namespace torch_npu::custom {

constexpr aclnn_check::Dtypes kScaledTypes = dtypes({at::kFloat8_e4m3fn, at::kFloat8_e5m2, at::kChar});
constexpr aclnn_check::Dtypes kScaleTypes = dtypes({at::kFloat, at::kFloat8_e8m0fnu, at::kByte, at::kChar});

// Throws unless scaled_product takes these, of which there may be meta tensors. `left` is the name of x1.
void check_scaled_product(const char* name, const char* left, const at::Tensor& x1, const at::Tensor& x2,
                          const std::optional<at::Tensor>& x1_scale, const std::optional<at::Tensor>& x2_scale);

// x1 [M, K] x2 [K, N] in float32, with scales of one number, of one for each row [M], [M, 1] and column [N], [1, N],
// or powers of two of 32 numbers of K in pairs of bytes, [M, K / 64, 2] and [K / 64, N, 2] rounded up.
at::Tensor scaled_product(const at::Tensor& x1, const at::Tensor& x2, const std::optional<at::Tensor>& x1_scale,
                          const std::optional<at::Tensor>& x2_scale);

// Throws unless all numbers of types that a call gives are those of float8_e8m0 and of float8.
void check_scaled_types(const char* name, at::OptionalIntArrayRef group_sizes,
                        std::initializer_list<std::pair<const char*, std::optional<int64_t>>> types);

}  // namespace torch_npu::custom
