#pragma once
// Values in int8 with their scales.

#include <ATen/core/Tensor.h>

#include <optional>

namespace torch_npu::custom {

// Rounded to nearest with ties to even, within [-128, 127].
at::Tensor rounded_to_int8(const at::Tensor& values);

struct ScaledRows {
  at::Tensor values;  // int8
  at::Tensor scales;  // float32, one for each row of the last dimension: max / 127
};
ScaledRows rows_to_int8(const at::Tensor& values);

// Throws unless the number is none, or that of int8.
void check_is_int8(const char* name, const char* role, std::optional<int64_t> number);

}  // namespace torch_npu::custom
