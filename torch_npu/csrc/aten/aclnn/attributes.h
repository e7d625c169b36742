#pragma once
// Arguments of aclnn functions that are not arguments of the operator: an entry of npu_native_functions.yaml names
// these functions in its `exec`.

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>

#include <array>
#include <optional>
#include <string_view>

#include "core/options.h"

namespace torch_npu::attributes {

using torch_npu::cube_math_type;

inline at::ScalarType dtype_of(const at::Tensor& tensor) { return tensor.scalar_type(); }

// 0: not rounded, 1: towards zero, 2: down. The rule has refused all else.
inline int divide_mode(std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode.has_value()) return 0;
  return *rounding_mode == "floor" ? 2 : 1;
}

inline int64_t gelu_mode(std::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh", "approximate argument must be either none or tanh.");
  return approximate == "tanh" ? 1 : 0;
}

// What a variance is divided by is the number of its elements less this.
inline int64_t correction_or_one(const std::optional<at::Scalar>& correction) {
  return correction.has_value() ? correction->toLong() : 1;
}

inline int64_t divisor_or_zero(std::optional<int64_t> divisor) { return divisor.value_or(0); }

// 0: the sizes say it.
inline double scale_or_zero(std::optional<double> scale) { return scale.value_or(0); }

// Where aclnn wants an object for a number.
inline at::Scalar as_scalar(int64_t value) { return value; }

inline bool is_set(std::optional<bool> flag) { return flag.value_or(false); }

// All dimensions, and one.
inline at::IntArrayRef no_dims() { return {}; }
inline std::array<int64_t, 1> one_dim(int64_t dim) { return {dim}; }

// argmax and argmin without a dimension go along the flattened tensor, to one number.
inline at::Tensor flat_without(std::optional<int64_t> dim, const at::Tensor& self) {
  return dim.has_value() ? self : self.reshape({-1});
}
inline int64_t dim_or_zero(std::optional<int64_t> dim) { return dim.value_or(0); }
inline bool keeps(std::optional<int64_t> dim, bool keepdim) { return dim.has_value() && keepdim; }
inline at::Tensor number_without(std::optional<int64_t> dim, const at::Tensor& out) {
  return dim.has_value() ? out : out.reshape({});
}

// Weights of classes that make no difference, where the caller gives none.
inline at::Tensor weight_or_ones(const std::optional<at::Tensor>& weight, const at::Tensor& self) {
  return weight.has_value() && weight->defined() ? *weight : at::ones({self.size(-1)}, self.options());
}

}  // namespace torch_npu::attributes
