#pragma once
// Functions that derive an aclnn function's arguments from an operator's. Entries of npu_native_functions.yaml name
// them in `exec`.

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>

#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include "aten/aclnn/check.h"
#include "core/options.h"

namespace torch_npu::attributes {

using torch_npu::conv_cube_math_type;
using torch_npu::cube_math_type;

inline at::ScalarType dtype_of(const at::Tensor& tensor) { return tensor.scalar_type(); }

// 0: no rounding, 1: towards zero, 2: down. The rule has rejected all other modes.
inline int divide_mode(std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode.has_value()) return 0;
  return *rounding_mode == "floor" ? 2 : 1;
}

inline int64_t gelu_mode(std::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh", "approximate argument must be either none or tanh.");
  return approximate == "tanh" ? 1 : 0;
}

// The divisor of a variance is the number of elements minus this.
inline int64_t correction_or_one(const std::optional<at::Scalar>& correction) {
  return correction.has_value() ? correction->toLong() : 1;
}

inline int64_t divisor_or_zero(std::optional<int64_t> divisor) { return divisor.value_or(0); }

// 0: derived from the sizes.
inline double scale_or_zero(std::optional<double> scale) { return scale.value_or(0); }

// For float parameters of aclnn: the entry's `when` ensures that no precision is lost.
inline float as_float(double value) { return static_cast<float>(value); }
inline float scale_as_float(std::optional<double> scale) { return as_float(scale_or_zero(scale)); }

// The number `self` in an operation with a half type: PyTorch rounds a left operand to that type, while aclnn takes the
// number as the right one.
inline at::Scalar rounded_number(const at::Tensor& self, const at::Tensor& other) {
  const at::Scalar number = aclnn_check::number(self);
  if (number.isComplex() || !at::isReducedFloatingType(other.scalar_type())) return number;
  const auto value = number.to<float>();
  return other.scalar_type() == at::kHalf ? static_cast<float>(static_cast<at::Half>(value))
                                          : static_cast<float>(static_cast<at::BFloat16>(value));
}

inline at::Scalar rounded_number(const at::Tensor& self, const InStorageShape& other) {
  return rounded_number(self, other.tensor);
}

// For parameters of aclnn that are scalar objects.
inline at::Scalar as_scalar(int64_t value) { return value; }

inline bool is_set(std::optional<bool> flag) { return flag.value_or(false); }

// All dimensions; one dimension.
inline at::IntArrayRef no_dims() { return {}; }
inline std::array<int64_t, 1> one_dim(int64_t dim) { return {dim}; }

// Without a dimension argmax and argmin reduce the flattened tensor to one number.
inline at::Tensor flat_without(std::optional<int64_t> dim, const at::Tensor& self) {
  return dim.has_value() ? self : self.reshape({-1});
}
inline int64_t dim_or_zero(std::optional<int64_t> dim) { return dim.value_or(0); }
inline bool keeps(std::optional<int64_t> dim, bool keepdim) { return dim.has_value() && keepdim; }
inline at::Tensor number_without(std::optional<int64_t> dim, const at::Tensor& out) {
  return dim.has_value() ? out : out.reshape({});
}

// For lists whose numbers are all equal.
inline const at::Scalar& first_of(at::ArrayRef<at::Scalar> numbers) { return numbers[0]; }

// Default class weights: 1.
inline at::Tensor weight_or_ones(const std::optional<at::Tensor>& weight, const at::Tensor& self) {
  const int64_t classes = self.size(self.dim() == 1 ? 0 : 1);
  return weight.has_value() && weight->defined() ? *weight : at::ones({classes}, self.options());
}

// scatter's mode: 0 replaces, 1 adds, 2 multiplies, 3 maximum, 4 minimum, 5 mean.
inline int64_t scatter_mode(std::string_view reduce) {
  if (reduce == "add" || reduce == "sum") return 1;
  if (reduce == "multiply" || reduce == "prod") return 2;
  if (reduce == "amax") return 3;
  if (reduce == "amin") return 4;
  TORCH_CHECK(reduce == "mean", "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce, ".");
  return 5;
}

// The defaults of nan_to_num.
inline float nan_or_zero(std::optional<double> nan) { return static_cast<float>(nan.value_or(0)); }
inline float limit_or(std::optional<double> value, const at::Tensor& self, bool is_largest) {
  if (value.has_value()) return static_cast<float>(*value);
  float limit = std::numeric_limits<float>::max();
  if (self.scalar_type() == at::kHalf) limit = std::numeric_limits<at::Half>::max();
  if (self.scalar_type() == at::kBFloat16) limit = std::numeric_limits<at::BFloat16>::max();
  return is_largest ? limit : -limit;
}
inline float largest_or(std::optional<double> value, const at::Tensor& self) { return limit_or(value, self, true); }
inline float least_or(std::optional<double> value, const at::Tensor& self) { return limit_or(value, self, false); }

}  // namespace torch_npu::attributes
