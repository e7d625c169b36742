#pragma once
// Like aten/aclnn/attributes.h, for functions that only npu:: operators use.

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "core/aclnn_argument.h"

namespace torch_npu::attributes {

// For a factor that aclnn takes as a double.
inline double number_of(const at::Scalar& scalar) { return scalar.toDouble(); }

// An optional tensor that is left out, and flags that are always or never set.
inline std::optional<at::Tensor> absent() { return std::nullopt; }
inline bool always() { return true; }
inline bool never() { return false; }
inline int64_t zero() { return 0; }

inline int64_t number_or_zero(std::optional<int64_t> value) { return value.value_or(0); }

// The experts of a row: `indices` are [N] or [N, K].
inline int64_t experts_of(const at::Tensor& indices) { return indices.dim() == 1 ? 1 : indices.size(1); }
// How many of the rows' copies are there: all but -count for a negative number, all for none.
inline int64_t copies_of(const at::Tensor& indices, std::optional<int64_t> count) {
  const int64_t all = indices.numel();
  const int64_t asked = count.value_or(0);
  return asked > 0 ? std::min(asked, all) : all + asked;
}

// The dimension along which a right matrix of int32 holds eight int4 an element: the one that has an eighth of the size
// that the left matrix asks for.
inline int64_t packed_dimension(const at::Tensor& left, const at::Tensor& right) {
  return right.dim() >= 2 && right.sym_size(-2) == left.sym_size(-1) ? -1 : -2;
}
inline Int4Elements int4_elements(const at::Tensor& right, const at::Tensor& left) {
  return {right, packed_dimension(left, right)};
}

// For parameters of aclnn in 32 bits.
inline int32_t as_int32(int64_t value) {
  TORCH_CHECK(value >= 0 && value <= std::numeric_limits<int32_t>::max(), value, " is not a number from 0 up to ",
              std::numeric_limits<int32_t>::max());
  return static_cast<int32_t>(value);
}

}  // namespace torch_npu::attributes
