// Norms with an activation, and gradients of norms.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <aclnnop/aclnn_group_norm.h>

#include "aten/composed/operands.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

// The elements of a channel of [N, C, *].
c10::SymInt pixels_of(const Tensor& image) {
  c10::SymInt pixels = 1;
  for (int64_t i = 2; i < image.dim(); ++i) pixels = pixels * image.sym_size(i);
  return pixels;
}

// The operands of a norm's gradient; `role` is the name of `grad`.
void check_gradient(const char* name, const char* role, const Tensor& grad, const Tensor& self, const Tensor& mean,
                    const Tensor& rstd, const OptionalTensor& weight, const OptionalTensor& bias) {
  const auto same = aclnn_check::dtype_bit(self.scalar_type());
  Operands(name)
      .take("input", self, kReals)
      .take(role, grad, same)
      .take("mean", mean, kReals)
      .take("rstd", rstd, kReals)
      .take("weight", weight, same)
      .take("bias", bias, same);
}

// Of 16-bit types, which PyTorch's operator computes on the AI CPU.
Three group_norm_by_kernel(const Tensor& self, const OptionalTensor& weight, const OptionalTensor& bias, int64_t groups,
                           double eps) {
  static const AclnnOp<decltype(aclnnGroupNormGetWorkspaceSize)> function("aclnnGroupNorm");
  const int64_t batch = self.size(0), channels = self.size(1), pixels = self.numel() / (batch * channels);
  const Tensor out = at::empty(self.sizes(), self.options());
  const Tensor mean = at::empty({batch, groups}, self.options()), rstd = at::empty({batch, groups}, self.options());
  bind_device(self.device().index());
  function(self.device().index(), self, weight, bias, batch, channels, pixels, groups, eps, out, mean, rstd);
  return {out, mean, rstd};
}

Three group_norm(const char* name, const Tensor& self, const OptionalTensor& weight, const OptionalTensor& bias,
                 int64_t groups, double eps) {
  const auto same = aclnn_check::dtype_bit(self.scalar_type());
  Operands(name).take("input", self, kReals).take("weight", weight, same).take("bias", bias, same);
  TORCH_CHECK(self.dim() >= 2 && groups > 0 && self.sym_size(1) % groups == 0, name, ": input of size ",
              self.sym_sizes(), " in ", groups, " groups: [N, C, *] is taken, whose C they divide");
  const bool is_16_bit = self.scalar_type() == at::kHalf || self.scalar_type() == at::kBFloat16;
  static const bool has_kernel = aclnn_symbol("aclnnGroupNorm") != nullptr;
  if (has_kernel && is_16_bit && self.is_privateuseone() && self.numel() > 0) {
    return group_norm_by_kernel(self.contiguous(), weight, bias, groups, eps);
  }
  return at::native_group_norm_symint(self.contiguous(), weight, bias, self.sym_size(0), self.sym_size(1),
                                      pixels_of(self), groups, eps);
}

Tensor swish(const Tensor& x, double scale) { return scale == 1 ? at::silu(x) : x * at::sigmoid(x * scale); }

}  // namespace

Three npu_group_norm_silu(const Tensor& self, const OptionalTensor& weight, const OptionalTensor& bias, int64_t group,
                          double eps) {
  const auto [out, mean, rstd] = group_norm("npu_group_norm_silu", self, weight, bias, group, eps);
  return {at::silu(out), mean, rstd};
}

Three npu_group_norm_swish(const Tensor& self, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                           std::optional<double> eps, std::optional<double> swish_scale) {
  const auto [out, mean, rstd] = group_norm("npu_group_norm_swish", self, weight, bias, num_groups, eps.value_or(1e-5));
  return {swish(out, swish_scale.value_or(1)), mean, rstd};
}

Three npu_group_norm_swish_grad(const Tensor& grad, const Tensor& self, int64_t num_groups, const Tensor& weight,
                                const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                                std::array<bool, 3> grad_input_mask, std::optional<double> swish_scale) {
  constexpr const char* kName = "npu_group_norm_swish_grad";
  check_gradient(kName, "grad", grad, self, mean, rstd, weight, bias);
  TORCH_CHECK(
      self.dim() >= 2 && grad.sym_sizes() == self.sym_sizes() && num_groups > 0 && self.sym_size(1) % num_groups == 0,
      kName, ": grad of size ", grad.sym_sizes(), ", input of size ", self.sym_sizes(), " in ", num_groups,
      " groups: one size [N, C, *], whose C they divide");
  // The normalized values again, from the statistics of the forward call.
  const auto grouped = [&](const Tensor& statistic) {
    return statistic.to(in_compute_type(self).scalar_type()).reshape_symint({self.sym_size(0), num_groups, 1});
  };
  const Tensor rows = in_compute_type(self).reshape_symint({self.sym_size(0), num_groups, -1});
  const Tensor normal = ((rows - grouped(mean)) * grouped(rstd)).reshape_symint(self.sym_sizes());
  std::vector<c10::SymInt> shape(static_cast<std::size_t>(self.dim()), 1);
  shape[1] = self.sym_size(1);
  const Tensor y = normal * in_compute_type(weight).reshape_symint(shape) + in_compute_type(bias).reshape_symint(shape);
  const double scale = swish_scale.value_or(1);
  const Tensor gate = at::sigmoid(y * scale);
  const Tensor inner = (in_compute_type(grad) * gate * (1 + y * scale * (1 - gate))).to(self.scalar_type());
  return at::native_group_norm_backward_symint(inner.contiguous(), self.contiguous(), mean.contiguous(),
                                               rstd.contiguous(), weight, self.sym_size(0), self.sym_size(1),
                                               pixels_of(self), num_groups, grad_input_mask);
}

Three npu_layernorm_grad(const Tensor& grad_out, const Tensor& self, at::IntArrayRef normalized_shape,
                         const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight,
                         const OptionalTensor& bias) {
  check_gradient("npu_layernorm_grad", "grad_out", grad_out, self, mean, rstd, weight, bias);
  return at::native_layer_norm_backward(grad_out, self, normalized_shape, mean, rstd, weight, bias, {true, true, true});
}

// Of [N, C, T], of which row n has seq_len[n] steps: all of its steps are normalized by the statistics of those.
Tensor npu_normalize_batch(const Tensor& self, const Tensor& seq_len, int64_t normalize_type) {
  constexpr const char* kName = "npu_normalize_batch";
  constexpr double kLeast = 1e-5;
  Operands(kName).take("input", self, kReals).take("seq_len", seq_len, kIndexes);
  TORCH_CHECK(self.dim() == 3 && seq_len.dim() == 1 && seq_len.sym_size(0) == self.sym_size(0), kName,
              ": input of size ", self.sym_sizes(), ", seq_len of size ", seq_len.sym_sizes(),
              ": [N, C, T] and [N] are taken");
  TORCH_CHECK(normalize_type == 0 || normalize_type == 1, kName, ": normalize_type is ", normalize_type,
              ": 0 (per_feature) and 1 (all_features) are taken");
  const Tensor x = in_compute_type(self);
  const Tensor lengths = seq_len.reshape({-1, 1, 1});
  const Tensor steps = at::arange(self.sym_size(2), seq_len.options()).reshape({1, 1, -1});
  const Tensor within = (steps < lengths).to(x.scalar_type());
  const std::vector<int64_t> over = normalize_type == 0 ? std::vector<int64_t>{2} : std::vector<int64_t>{1, 2};
  const Tensor count = lengths.to(x.scalar_type()) *
                       (normalize_type == 0 ? c10::SymInt(1) : self.sym_size(1)).guard_int(__FILE__, __LINE__);
  const Tensor mean = at::where(within.to(at::kBool), x, 0).sum(over, true) / count;
  const Tensor centred = at::where(within.to(at::kBool), x - mean, 0);
  const Tensor deviation = (centred.square().sum(over, true) / (count - 1)).sqrt() + kLeast;
  return ((x - mean) / deviation).to(self.scalar_type());
}

Tensor npu_renorm_backward(const Tensor& grad, const Tensor& self, const at::Scalar& p, int64_t dim,
                           const at::Scalar& maxnorm) {
  constexpr const char* kName = "npu_renorm_backward";
  Operands(kName).take("input", self, kReals).take("grad", grad, aclnn_check::dtype_bit(self.scalar_type()));
  TORCH_CHECK(grad.sym_sizes() == self.sym_sizes(), kName, ": grad of size ", grad.sym_sizes(),
              " for an input of size ", self.sym_sizes());
  const auto renorm = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{at::renorm(inputs[0], p, dim, maxnorm)};
  };
  return gradients_of(renorm, {self}, {grad})[0];
}

}  // namespace torch_npu::custom
