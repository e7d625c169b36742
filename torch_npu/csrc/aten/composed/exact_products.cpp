#include "aten/composed/exact_products.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

namespace torch_npu::custom {

using at::Tensor;

Tensor exact_product(const Tensor& a, const Tensor& b) {
  // Sums of products of int8 below this length are exact in float32, all others in float64.
  constexpr int64_t kShort = (int64_t{1} << 24) / (128 * 128);
  const auto type = a.sym_size(-1) <= kShort ? at::kFloat : at::kDouble;
  return at::matmul(a.to(type), b.to(type)).to(at::kFloat);
}

Tensor factors_of(const Tensor& scales) {
  if (scales.scalar_type() != at::kLong) return scales.to(at::kFloat);
  if (scales.is_meta()) return at::empty_symint(scales.sym_sizes(), scales.options().dtype(at::kFloat));
  // The low half of each number; bytes are in the order of the host.
  return scales.contiguous().view(at::kFloat).slice(-1, 0, std::nullopt, 2).contiguous();
}

Tensor dequantized(const char* name, const Tensor& weights, const Tensor& scale, const std::optional<Tensor>& offset,
                   int64_t group) {
  const Tensor values = weights.to(at::kFloat);
  const auto spread = [&](const Tensor& numbers) {
    const Tensor widened = numbers.to(at::kFloat);
    if (group <= 0 || widened.dim() < 2 || widened.size(0) == 1) return widened;
    TORCH_CHECK(widened.size(0) * group >= weights.size(0), "npu::", name, ": scales are of size ", widened.sizes(),
                " for weights of size ", weights.sizes(), " in groups of ", group);
    return widened.repeat_interleave(group, 0).slice(0, 0, weights.size(0));
  };
  const bool has_offset = offset.has_value() && offset->defined();
  return (has_offset ? values + spread(*offset) : values) * spread(scale);
}

}  // namespace torch_npu::custom
