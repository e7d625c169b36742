#pragma once
// What shapes and arguments an aclnn function takes: an entry of npu_native_functions.yaml names these functions in its
// `when`. What they refuse goes on to ATen's kernel, which computes it or raises ATen's own error.

#include <ATen/core/Tensor.h>
#include <ATen/native/ConvUtils.h>
#include <c10/core/Scalar.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace torch_npu::conditions {

namespace detail {

inline bool all_at_least(at::IntArrayRef values, int64_t smallest) {
  return std::all_of(values.begin(), values.end(), [=](int64_t value) { return value >= smallest; });
}

}  // namespace detail

// 1 to 3 dimensions, filters that fit the channels and the padded image.
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

// With a bias for each channel, or none.
inline bool is_biased_convolution(const at::Tensor& input, const at::Tensor& weight,
                                  const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                                  at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                                  at::IntArrayRef output_padding, int64_t groups) {
  if (!is_convolution(input, weight, stride, padding, dilation, transposed, output_padding, groups)) return false;
  if (!bias.has_value() || !bias->defined()) return true;
  return bias->dim() == 1 && bias->scalar_type() == input.scalar_type() &&
         bias->numel() == (transposed ? weight.size(1) * groups : weight.size(0));
}

// What is given has the type of the first one.
template <typename... Optional>
bool are_of_one_type(const at::Tensor& first, const Optional&... rest) {
  const auto fits = [&](const std::optional<at::Tensor>& tensor) {
    return !tensor.has_value() || !tensor->defined() || tensor->scalar_type() == first.scalar_type();
  };
  return (fits(rest) && ...);
}

// What PyTorch's kernel of group norm asks for: channels first or last, without gaps.
inline bool is_whole_image(const at::Tensor& input) { return input.is_contiguous(input.suggest_memory_format()); }

// aclnn takes whole numbers only.
inline bool is_whole(const std::optional<at::Scalar>& correction) {
  if (!correction.has_value() || correction->isIntegral(false)) return true;
  const double value = correction->toDouble();
  return value == std::floor(value) && std::abs(value) < 0x1p53;
}

// Images with channels, in a batch or alone, and a size for each of their dimensions.
inline bool is_adaptive_pool(const at::Tensor& self, at::IntArrayRef output_size) {
  const auto dims = static_cast<int64_t>(output_size.size());
  return (self.dim() == dims + 1 || self.dim() == dims + 2) && detail::all_at_least(output_size, 1);
}

inline bool are_images(const at::Tensor& grad_output, const at::Tensor& self) {
  return (self.dim() == 3 || self.dim() == 4) && grad_output.dim() == self.dim() &&
         grad_output.scalar_type() == self.scalar_type();
}

}  // namespace torch_npu::conditions
