#pragma once
// Conditions on the shapes and arguments of aclnn functions. Entries of npu_native_functions.yaml name them in `when`.
// If one is false, ATen's kernel computes the call or raises ATen's error.

#include <ATen/core/Tensor.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/ops/result_type.h>
#include <c10/core/Scalar.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "aten/aclnn/check.h"

namespace torch_npu::conditions {

namespace detail {

inline bool all_at_least(at::IntArrayRef values, int64_t smallest) {
  return std::all_of(values.begin(), values.end(), [=](int64_t value) { return value >= smallest; });
}

}  // namespace detail

// If alpha is 0, BLAS does not read the factors, so that they cause no NaN. ATen's float32 products do the same,
// depending on the size; aclnn always multiplies.
inline bool is_product(const at::Tensor& self, const at::Scalar& alpha) {
  return self.scalar_type() != at::kFloat || !alpha.equal(0);
}

// 1 to 3 dimensions, and filters that fit the channels and the padded image.
inline bool is_convolution(const at::Tensor& input, const at::Tensor& weight, at::IntArrayRef stride,
                           at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                           at::IntArrayRef output_padding, int64_t groups) {
  const auto dims = static_cast<std::size_t>(std::max<int64_t>(input.dim() - 2, 0));
  if (dims < 1 || dims > 3 || weight.dim() != input.dim() || groups < 1) return false;
  if (stride.size() != dims || padding.size() != dims || dilation.size() != dims || output_padding.size() != dims)
    return false;
  if (!detail::all_at_least(stride, 1) || !detail::all_at_least(dilation, 1) || !detail::all_at_least(padding, 0) ||
      !detail::all_at_least(output_padding, 0))
    return false;
  if (weight.size(0) % groups != 0) return false;
  if (input.size(1) != (transposed ? weight.size(0) : weight.size(1) * groups)) return false;
  if (transposed) {
    for (std::size_t i = 0; i < dims; ++i) {
      if (output_padding[i] >= std::max(stride[i], dilation[i])) return false;
    }
    return detail::all_at_least(
        at::native::conv_input_size(input.sizes(), weight.sizes(), padding, output_padding, stride, dilation, groups),
        1);
  }
  return detail::all_at_least(at::native::conv_output_size(input.sizes(), weight.sizes(), padding, stride, dilation),
                              1);
}

// With one bias per channel, or none.
inline bool is_biased_convolution(const at::Tensor& input, const at::Tensor& weight,
                                  const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                                  at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                                  at::IntArrayRef output_padding, int64_t groups) {
  if (!is_convolution(input, weight, stride, padding, dilation, transposed, output_padding, groups)) return false;
  if (!bias.has_value() || !bias->defined()) return true;
  return bias->dim() == 1 && bias->scalar_type() == input.scalar_type() &&
         bias->numel() == (transposed ? weight.size(1) * groups : weight.size(0));
}

// As PyTorch's group norm kernel requires: contiguous, channels first or last.
inline bool is_whole_image(const at::Tensor& input) { return input.is_contiguous(input.suggest_memory_format()); }

// aclnn supports only integers.
inline bool is_whole(const std::optional<at::Scalar>& correction) {
  if (!correction.has_value() || correction->isIntegral(false)) return true;
  const double value = correction->toDouble();
  return value == std::floor(value) && std::abs(value) < 0x1p53;
}

// Whether `value` can be passed as a float for tensors like `self`.
inline bool is_float(const at::Tensor& self, double value) { return aclnn_check::is_float(self.scalar_type(), value); }

// Whether the scale can be passed as a float: PyTorch inverts it first. If sizes stay equal or double, PyTorch's
// kernels for channels first and last select different pixels for inconsistent scales.
inline bool is_scale(int64_t input, int64_t output, std::optional<double> scale) {
  if (!scale.has_value()) return true;
  const double narrow = static_cast<float>(*scale);
  const auto step = static_cast<float>(1.0 / *scale);
  if (step != static_cast<float>(1.0 / narrow)) return false;
  const bool is_special = output == input || output == 2 * input;
  return !is_special || step == static_cast<float>(input) / static_cast<float>(output);
}
template <typename... Scales>
bool are_scales(const at::Tensor& self, at::IntArrayRef output_size, const Scales&... scales) {
  constexpr auto kDims = static_cast<int64_t>(sizeof...(scales));
  if (self.dim() != kDims + 2 || output_size.size() != sizeof...(scales)) return false;
  std::size_t i = 0;
  const auto next = [&](std::optional<double> scale) {
    const int64_t output = output_size[i];
    return is_scale(self.size(2 + static_cast<int64_t>(i++)), output, scale);
  };
  return (next(scales) && ...);
}

// PyTorch raises an error for an integer division by the number 0. Zeros of a divisor in device memory are not known in
// time: there the integer quotient is 0.
inline bool is_divisor(const at::Tensor& self, const at::Tensor& other) {
  if (!aclnn_check::is_number(other) || !at::isIntegralType(self.scalar_type(), /*includeBool=*/true)) return true;
  const at::Scalar number = aclnn_check::number(other);
  if (!number.isIntegral(/*includeBool=*/true)) return true;
  const bool is_bool = self.scalar_type() == at::kBool;  // with a number it becomes int64
  const auto unused = static_cast<int>(is_bool ? 0 : 8 * (sizeof(int64_t) - self.itemsize()));
  return (static_cast<uint64_t>(number.toLong()) << unused) != 0;
}

inline bool has_dims(const at::Tensor& self) { return self.dim() > 0; }

// All numbers are equal, so that one can represent the list.
inline bool are_equal(at::ArrayRef<at::Scalar> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [&](const at::Scalar& number) {
    return !number.isComplex() && !numbers[0].isComplex() && number.toDouble() == numbers[0].toDouble();
  });
}

// Padding of the last dimensions, less than their sizes, of a tensor with one or two more dimensions.
inline bool is_padding(const at::Tensor& self, at::IntArrayRef padding) {
  const auto dims = static_cast<int64_t>(padding.size() / 2);
  if ((self.dim() != dims + 1 && self.dim() != dims + 2) || !detail::all_at_least(padding, 0)) return false;
  for (int64_t i = 0; i < dims; ++i) {
    const auto at = static_cast<std::size_t>(2 * i);
    if (std::max(padding[at], padding[at + 1]) >= self.size(-1 - i)) return false;
  }
  return true;
}

// The gradient has the padded size.
inline bool is_padding_gradient(const at::Tensor& grad_output, const at::Tensor& self, at::IntArrayRef padding) {
  if (!is_padding(self, padding) || grad_output.dim() != self.dim()) return false;
  for (int64_t i = 0; i < self.dim(); ++i) {
    const auto at = static_cast<std::size_t>(2 * i);
    const int64_t added = at < padding.size() ? padding[at] + padding[at + 1] : 0;
    if (grad_output.size(-1 - i) != self.size(-1 - i) + added) return false;
  }
  return true;
}

// Padding that does not crop.
inline bool is_constant_padding(const at::Tensor& self, at::IntArrayRef padding) {
  if (padding.size() % 2 != 0 || static_cast<int64_t>(padding.size() / 2) > self.dim()) return false;
  return detail::all_at_least(padding, 0);
}

// One grid per image of the batch, with `dims` coordinates.
inline bool is_grid(const at::Tensor& input, const at::Tensor& grid, int64_t dims) {
  return input.dim() == dims + 2 && grid.dim() == dims + 2 && grid.size(0) == input.size(0) && grid.size(-1) == dims;
}
inline bool is_grid_of_images(const at::Tensor& input, const at::Tensor& grid) { return is_grid(input, grid, 2); }
inline bool is_grid_of_volumes(const at::Tensor& input, const at::Tensor& grid) { return is_grid(input, grid, 3); }

// The operands are promoted to one type.
inline bool is_smooth_l1(const at::Tensor& self, const at::Tensor& target, double beta) {
  return aclnn_check::is_float(at::result_type(self, target), beta);
}

// The operands have one shape.
inline bool is_smooth_l1_gradient(const at::Tensor& self, const at::Tensor& target, double beta) {
  return self.sizes() == target.sizes() && is_float(self, beta);
}

// Class scores for each pixel, and one target class each.
inline bool is_nll_loss2d(const at::Tensor& self, const at::Tensor& target, const std::optional<at::Tensor>& weight) {
  return self.dim() == 4 && target.dim() == 3 && target.size(0) == self.size(0) && target.size(1) == self.size(2) &&
         target.size(2) == self.size(3) &&
         (!weight.has_value() || !weight->defined() || weight->numel() == self.size(1));
}
inline bool is_nll_loss2d_gradient(const at::Tensor& grad_output, const at::Tensor& self, const at::Tensor& target,
                                   const std::optional<at::Tensor>& weight, int64_t reduction) {
  return is_nll_loss2d(self, target, weight) &&
         (reduction == 0 ? grad_output.sizes() == target.sizes() : grad_output.numel() == 1);
}

// Images with channels, batched or not, and one size per spatial dimension.
inline bool is_adaptive_pool(const at::Tensor& self, at::IntArrayRef output_size) {
  const auto dims = static_cast<int64_t>(output_size.size());
  return (self.dim() == dims + 1 || self.dim() == dims + 2) && detail::all_at_least(output_size, 1);
}

inline bool are_images(const at::Tensor& grad_output, const at::Tensor& self) {
  return (self.dim() == 3 || self.dim() == 4) && grad_output.dim() == self.dim() &&
         grad_output.scalar_type() == self.scalar_type();
}

}  // namespace torch_npu::conditions
