#pragma once
// Like aten/aclnn/attributes.h, for functions that only npu:: operators use.

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <limits>
#include <optional>

namespace torch_npu::attributes {

// For a factor that aclnn takes as a double.
inline double number_of(const at::Scalar& scalar) { return scalar.toDouble(); }

// An optional tensor that is left out, and flags that are always or never set.
inline std::optional<at::Tensor> absent() { return std::nullopt; }
inline bool always() { return true; }
inline bool never() { return false; }
inline int64_t zero() { return 0; }

// For parameters of aclnn in 32 bits.
inline int32_t as_int32(int64_t value) {
  TORCH_CHECK(value >= 0 && value <= std::numeric_limits<int32_t>::max(), value, " is not a number from 0 up to ",
              std::numeric_limits<int32_t>::max());
  return static_cast<int32_t>(value);
}

}  // namespace torch_npu::attributes
