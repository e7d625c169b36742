// Convolutions of each channel over the rows before it.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr aclnn_check::Dtypes kRowTypes = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});

void check_rows(const char* name, const Tensor& input, const Tensor& weight, const OptionalTensor& mask) {
  Operands(name)
      .take("input", input, kRowTypes)
      .take("weight", weight, aclnn_check::dtype_bit(input.scalar_type()))
      .take("mask", mask, dtypes({at::kBool}));
  TORCH_CHECK(input.dim() == 3 && weight.dim() == 2 && weight.sym_size(1) == input.sym_size(2), "npu::", name,
              ": input is of size ", input.sym_sizes(), ", weight of size ", weight.sym_sizes(),
              ": [S, B, H] and [W, H] are taken");
  TORCH_CHECK(
      !mask.has_value() || !mask->defined() ||
          (mask->dim() == 2 && mask->sym_size(0) == input.sym_size(1) && mask->sym_size(1) == input.sym_size(0)),
      "npu::", name, ": mask is not of size [B, S] for an input of size ", input.sym_sizes());
}

// `rows` moved down by `shift` steps, or up by negative ones; zeros stand in.
Tensor moved(const Tensor& rows, int64_t shift) {
  const c10::SymInt steps = rows.sym_size(0);
  const std::vector<c10::SymInt> padding = {0, 0, 0, 0, shift > 0 ? shift : 0, shift < 0 ? -shift : 0};
  return at::constant_pad_nd_symint(rows, padding, 0).narrow_symint(0, shift < 0 ? -shift : 0, steps);
}

// [S, B, 1], ones and zeros.
Tensor kept_rows(const Tensor& mask, at::ScalarType type) { return mask.t().unsqueeze(2).to(type); }

// Windows of `block` rows, `stride` apart, of sequences of [T, N, D] that end at `ends`.
struct Windows {
  const char* name;
  int64_t block, stride;
  at::IntArrayRef ends;

  void check(const Tensor& input, const Tensor& weight) const {
    Operands(name).take("input", input, kRowTypes).take("weight", weight, aclnn_check::dtype_bit(input.scalar_type()));
    TORCH_CHECK(block > 0 && stride > 0 && input.dim() == 3 && weight.dim() == 2 && weight.sym_size(0) == block &&
                    weight.sym_size(1) == input.sym_size(1),
                "npu::", name, ": input is of size ", input.sym_sizes(), ", weight of size ", weight.sym_sizes(),
                ", compress_block_size ", block, ", compress_stride ", stride,
                ": [T, N, D] and [block, N], and positive numbers are taken");
    int64_t begin = 0;
    for (const int64_t end : ends) {
      TORCH_CHECK(begin <= end && end <= input.sym_size(0), "npu::", name, ": actual_seq_len has ", end, " behind ",
                  begin, " for ", input.sym_size(0), " rows");
      begin = end;
    }
  }

  std::vector<int64_t> starts() const {
    std::vector<int64_t> found;
    int64_t begin = 0;
    for (const int64_t end : ends) {
      for (int64_t at = begin; at + block <= end; at += stride) found.push_back(at);
      begin = end;
    }
    return found;
  }

  // The rows of all windows [windows, block, N, D].
  Tensor rows(const Tensor& input) const {
    const Tensor first = at::tensor(starts(), at::TensorOptions().dtype(at::kLong)).to(input.device());
    const Tensor places = first.unsqueeze(1) + at::arange(block, first.options());
    return input.index_select(0, places.flatten()).reshape({-1, block, input.size(1), input.size(2)});
  }

  Tensor sums(const Tensor& input, const Tensor& weight) const { return (rows(input) * weight.unsqueeze(2)).sum(1); }
};

Windows windows_of(const char* name, const Tensor& input, int64_t block, int64_t stride,
                   at::OptionalIntArrayRef actual_seq_len) {
  TORCH_CHECK(actual_seq_len.has_value(), "npu::", name, ": actual_seq_len is None for ", input.sym_size(0),
              " rows: the ends of sequences are taken");
  return {name, block, stride, *actual_seq_len};
}

}  // namespace

Tensor npu_nsa_compress(const Tensor& self, const Tensor& weight, int64_t compress_block_size, int64_t compress_stride,
                        at::OptionalIntArrayRef actual_seq_len) {
  const Windows windows = windows_of("npu_nsa_compress", self, compress_block_size, compress_stride, actual_seq_len);
  windows.check(self, weight);
  if (self.is_meta()) {
    const auto count = static_cast<int64_t>(windows.starts().size());
    return at::empty_symint({count, self.sym_size(1), self.sym_size(2)}, self.options());
  }
  return windows.sums(in_compute_type(self), in_compute_type(weight)).to(self.scalar_type());
}

std::tuple<Tensor, Tensor> npu_nsa_compress_grad(const Tensor& grad, const Tensor& self, const Tensor& weight,
                                                 int64_t compress_block_size, int64_t compress_stride,
                                                 at::OptionalIntArrayRef actual_seq_len) {
  const Windows windows =
      windows_of("npu_nsa_compress_grad", self, compress_block_size, compress_stride, actual_seq_len);
  windows.check(self, weight);
  Operands(windows.name).take("input", self).take("grad", grad, aclnn_check::dtype_bit(self.scalar_type()));
  const auto function = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{windows.sums(inputs[0], inputs[1])};
  };
  const std::vector<Tensor> found =
      gradients_of(function, {in_compute_type(self), in_compute_type(weight)}, {in_compute_type(grad)});
  return {found[0].to(self.scalar_type()), found[1].to(weight.scalar_type())};
}

Tensor npu_masked_causal_conv1d(const Tensor& self, const Tensor& weight, const OptionalTensor& mask) {
  check_rows("npu_masked_causal_conv1d", self, weight, mask);
  if (self.is_meta()) return at::empty_symint(self.sym_sizes(), self.options());
  const Tensor x = in_compute_type(self), w = in_compute_type(weight);
  const int64_t taps = weight.size(0);
  Tensor y = at::zeros_like(x);
  for (int64_t k = 0; k < taps; ++k) y = y + moved(x, taps - 1 - k) * w.select(0, k);
  if (mask.has_value() && mask->defined()) y = y * kept_rows(*mask, y.scalar_type());
  return y.to(self.scalar_type());
}

std::tuple<Tensor, Tensor> npu_masked_causal_conv1d_backward(const Tensor& grad_output, const Tensor& self,
                                                             const Tensor& weight, const OptionalTensor& mask) {
  constexpr const char* kName = "npu_masked_causal_conv1d_backward";
  check_rows(kName, self, weight, mask);
  Operands(kName).take("input", self).take("grad_output", grad_output, aclnn_check::dtype_bit(self.scalar_type()));
  TORCH_CHECK(grad_output.sym_sizes() == self.sym_sizes(), "npu::", kName, ": grad_output is of size ",
              grad_output.sym_sizes(), " for an input of size ", self.sym_sizes());
  if (self.is_meta()) {
    return {at::empty_symint(self.sym_sizes(), self.options()), at::empty_symint(weight.sym_sizes(), weight.options())};
  }
  const Tensor x = in_compute_type(self), w = in_compute_type(weight);
  Tensor grad = in_compute_type(grad_output);
  if (mask.has_value() && mask->defined()) grad = grad * kept_rows(*mask, grad.scalar_type());
  const int64_t taps = weight.size(0);
  Tensor of_input = at::zeros_like(x);
  std::vector<Tensor> of_weight;
  for (int64_t k = 0; k < taps; ++k) {
    const int64_t shift = taps - 1 - k;
    of_input = of_input + moved(grad, -shift) * w.select(0, k);
    of_weight.push_back((moved(x, shift) * grad).sum(at::IntArrayRef({0, 1})));
  }
  return {of_input.to(self.scalar_type()), at::stack(of_weight).to(weight.scalar_type())};
}

}  // namespace torch_npu::custom
