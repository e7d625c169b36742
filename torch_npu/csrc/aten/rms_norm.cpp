// torch.nn.functional.rms_norm and its gradients by aclnn; unsupported calls are composed of other operators.

#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/layer_norm.h>
#include <ATen/ops/_fused_rms_norm.h>
#include <ATen/ops/_fused_rms_norm_compositeimplicitautograd_dispatch.h>
#include <ATen/ops/ones.h>
#include <aclnnop/aclnn_rms_norm.h>
#include <aclnnop/aclnn_rms_norm_grad.h>
#include <torch/library.h>

#include <limits>
#include <numeric>

#include "aten/aclnn/check.h"
#include "aten/empty.h"
#include "aten/tangent.h"
#include "core/aclnn.h"
#include "core/device.h"

namespace torch_npu {
namespace {

using at::Tensor;

bool is_given(const std::optional<Tensor>& weight) { return weight.has_value() && weight->defined(); }

bool takes(aclnn_check::Check& check, const Tensor& input, at::IntArrayRef normalized_shape,
           const std::optional<Tensor>& weight) {
  const auto inner = static_cast<int64_t>(normalized_shape.size());
  return check.takes(input, aclnn_check::kFloating) && 0 < inner && inner <= input.dim() &&
         input.sizes().slice(input.dim() - inner) == normalized_shape &&
         (!is_given(weight) || (check.takes(*weight, aclnn_check::kFloating) && weight->sizes() == normalized_shape &&
                                weight->scalar_type() == input.scalar_type()));
}

Tensor weight_or_ones(const Tensor& input, at::IntArrayRef normalized_shape, const std::optional<Tensor>& weight) {
  return is_given(weight) ? *weight : at::ones(normalized_shape, input.options());
}

std::tuple<Tensor, Tensor> rms_norm(const Tensor& input, at::IntArrayRef normalized_shape,
                                    const std::optional<Tensor>& weight, std::optional<double> eps) {
  static const AclnnOp<decltype(aclnnRmsNormGetWorkspaceSize)> op("aclnnRmsNorm");
  aclnn_check::Check check;
  if (!op.available() || !takes(check, input, normalized_shape, weight))
    return at::compositeimplicitautograd::_fused_rms_norm(input, normalized_shape, weight, eps);
  const c10::DeviceIndex device = check.device();
  bind_device(device);
  at::DimVector rows(input.sizes());
  std::fill(rows.end() - static_cast<std::ptrdiff_t>(normalized_shape.size()), rows.end(), 1);
  Tensor out = make_tensor(input.sizes(), input.scalar_type(), device);
  const at::MemoryFormat format = input.suggest_memory_format();  // as in PyTorch's definition
  if (format != at::MemoryFormat::Contiguous) out.unsafeGetTensorImpl()->empty_tensor_restride(format);
  Tensor rstd = make_tensor(rows, at::toOpMathType(input.scalar_type()), device);
  const bool is_double = input.scalar_type() == at::kDouble;
  const double least = is_double ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  op(device, input, weight_or_ones(input, normalized_shape, weight), eps.value_or(least), out, rstd);
  return {out, rstd};
}

// By definition: with x' = x rstd and g = dy weight, rstd (g - x' mean(g x')) and the sum of dy x'.
std::tuple<Tensor, Tensor> composed_gradients(const Tensor& grad, const Tensor& input, at::IntArrayRef normalized_shape,
                                              const Tensor& rstd, const std::optional<Tensor>& weight,
                                              std::array<bool, 2> mask) {
  const at::ScalarType widened = at::toOpMathType(input.scalar_type());
  const Tensor direction = input.to(widened) * rstd;
  const Tensor outer = grad.to(widened);
  std::tuple<Tensor, Tensor> gradients;
  if (mask[0]) {
    std::vector<int64_t> inner(normalized_shape.size());
    std::iota(inner.begin(), inner.end(), -static_cast<int64_t>(inner.size()));
    const Tensor scaled = is_given(weight) ? outer * *weight : outer;
    const Tensor mean = (scaled * direction).mean(inner, /*keepdim=*/true);
    std::get<0>(gradients) = ((scaled - direction * mean) * rstd).to(input.scalar_type());
  }
  if (mask[1] && is_given(weight))
    std::get<1>(gradients) = (outer * direction).sum_to_size(normalized_shape).to(weight->scalar_type());
  return gradients;
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& grad, const Tensor& input, at::IntArrayRef normalized_shape,
                                             const Tensor& rstd, const std::optional<Tensor>& weight,
                                             std::array<bool, 2> mask) {
  static const AclnnOp<decltype(aclnnRmsNormGradGetWorkspaceSize)> op("aclnnRmsNormGrad");
  aclnn_check::Check check;
  if (!op.available() || !takes(check, input, normalized_shape, weight) || !check.takes(grad, aclnn_check::kFloating) ||
      grad.scalar_type() != input.scalar_type() || !check.takes(rstd, aclnn_check::kFloating) ||
      rstd.scalar_type() != at::toOpMathType(input.scalar_type()))
    return composed_gradients(grad, input, normalized_shape, rstd, weight, mask);
  const c10::DeviceIndex device = check.device();
  bind_device(device);
  Tensor of_input = make_tensor(input.sizes(), input.scalar_type(), device);
  Tensor of_weight = make_tensor(normalized_shape, at::toOpMathType(input.scalar_type()), device);
  op(device, grad, input, rstd, weight_or_ones(input, normalized_shape, weight), of_input, of_weight);
  const bool wants_weight = mask[1] && is_given(weight);
  return {mask[0] ? of_input : Tensor(), wants_weight ? of_weight.to(weight->scalar_type()) : Tensor()};
}

// PyTorch's formula for forward-mode derivatives rounds in the input's type, and there is none for complex numbers:
// these cases are composed of other operators, as on the CPU.
Tensor rms_norm_with_gradients(const Tensor& input, c10::SymIntArrayRef normalized_shape,
                               const std::optional<Tensor>& weight, std::optional<double> eps) {
  at::native::_check_rms_norm_inputs_symint(input, normalized_shape, weight.value_or(Tensor()));
  const at::IntArrayRef shape = C10_AS_INTARRAYREF_SLOW(normalized_shape);
  if (input.is_complex() || has_tangent(input) || (is_given(weight) && has_tangent(*weight)))
    return std::get<0>(at::compositeimplicitautograd::_fused_rms_norm(input, shape, weight, eps));
  return std::get<0>(at::_fused_rms_norm(input, shape, weight, eps));
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) { m.impl("rms_norm", &rms_norm_with_gradients); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_fused_rms_norm", &rms_norm);
  m.impl("_fused_rms_norm_backward", &rms_norm_backward);
}

}  // namespace
}  // namespace torch_npu
