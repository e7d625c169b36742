// Steps of Adam and AdamW on tensors of the caller.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/scalar_tensor.h>
#include <aclnnop/aclnn_apply_adam.h>
#include <aclnnop/aclnn_apply_adam_w.h>

#include "aten/custom/inputs.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using Three = std::tuple<Tensor, Tensor, Tensor>;

// The parameter and its two moments, all of the gradient's size.
void take_state(const char* name, Inputs* inputs, at::TensorList out, const Tensor& grad) {
  TORCH_CHECK(out.size() == 3, name, ": out has ", out.size(), " tensors: var, m and v are taken");
  inputs->take("grad", grad, dtypes({at::kHalf, at::kBFloat16, at::kFloat}));
  const auto same = aclnn_check::dtype_bit(grad.scalar_type());
  constexpr std::array<const char*, 3> kRoles = {"var", "m", "v"};
  for (std::size_t i = 0; i < out.size(); ++i) {
    inputs->take(kRoles[i], out[i], same);
    TORCH_CHECK(out[i].sizes() == grad.sizes(), name, ": ", kRoles[i], " is of size ", out[i].sizes(),
                " for a gradient of size ", grad.sizes());
    check_apart(out[i], grad);
    for (std::size_t j = 0; j < i; ++j) check_apart(out[i], out[j]);
  }
}

Tensor on_device(const at::Scalar& number, const Tensor& like) {
  return at::scalar_tensor(number, like.options().dtype(at::kFloat));
}

}  // namespace

Three npu_apply_adam_w(const at::Scalar& beta1_power, const at::Scalar& beta2_power, const at::Scalar& lr,
                       const at::Scalar& weight_decay, const at::Scalar& beta1, const at::Scalar& beta2,
                       const at::Scalar& epsilon, const Tensor& grad, const std::optional<Tensor>& max_grad_norm,
                       std::optional<bool> amsgrad, std::optional<bool> maximize, at::TensorList out) {
  constexpr const char* kName = "npu_apply_adam_w";
  static const AclnnOp<decltype(aclnnApplyAdamWGetWorkspaceSize)> function("aclnnApplyAdamW");
  Inputs inputs(kName, "aclnnApplyAdamW", function.available());
  take_state(kName, &inputs, out, grad);
  inputs.take("max_grad_norm", max_grad_norm, aclnn_check::dtype_bit(grad.scalar_type()));
  const bool has_most = max_grad_norm.has_value() && max_grad_norm->defined();
  TORCH_CHECK(!amsgrad.value_or(false) || (has_most && max_grad_norm->sizes() == grad.sizes()), kName,
              ": amsgrad is True: max_grad_norm of size ", grad.sizes(), " is taken with it");
  bind_device(inputs.device());
  if (grad.numel() > 0) {
    function(inputs.device(), out[0], out[1], out[2], on_device(beta1_power, grad), on_device(beta2_power, grad),
             on_device(lr, grad), on_device(weight_decay, grad), on_device(beta1, grad), on_device(beta2, grad),
             on_device(epsilon, grad), grad, max_grad_norm, amsgrad.value_or(false), maximize.value_or(false));
  }
  return {out[0], out[1], out[2]};
}

Three npu_apply_adam(const at::Scalar& beta1_power, const at::Scalar& beta2_power, const at::Scalar& lr,
                     const at::Scalar& beta1, const at::Scalar& beta2, const at::Scalar& epsilon, const Tensor& grad,
                     std::optional<bool> use_locking, std::optional<bool> use_nesterov, at::TensorList out) {
  constexpr const char* kName = "npu_apply_adam";
  static const AclnnOp<decltype(aclnnApplyAdamGetWorkspaceSize)> function("aclnnApplyAdam");
  Inputs inputs(kName, "aclnnApplyAdam", function.available());
  take_state(kName, &inputs, out, grad);
  bind_device(inputs.device());
  if (grad.numel() > 0) {
    function(inputs.device(), out[0], out[1], out[2], on_device(beta1_power, grad), on_device(beta2_power, grad),
             on_device(lr, grad), on_device(beta1, grad), on_device(beta2, grad), on_device(epsilon, grad), grad,
             use_locking.value_or(false), use_nesterov.value_or(false));
  }
  return {out[0], out[1], out[2]};
}

// Adam without a correction of its moments, in float32.
Three npu_bert_apply_adam(const at::Scalar& lr, const at::Scalar& beta1, const at::Scalar& beta2,
                          const at::Scalar& epsilon, const Tensor& grad, const at::Scalar& max_grad_norm,
                          const at::Scalar& global_grad_norm, const at::Scalar& weight_decay,
                          const std::optional<at::Scalar>& step_size, int64_t adam_mode, at::TensorList out) {
  constexpr const char* kName = "npu_bert_apply_adam";
  Inputs inputs(kName, "ATen", true);
  take_state(kName, &inputs, out, grad);
  TORCH_CHECK_NOT_IMPLEMENTED(adam_mode == 0 && !step_size.has_value(), kName, ": adam_mode is ", adam_mode,
                              ", or step_size is given: 0 and None are taken");
  bind_device(inputs.device());
  const double most = max_grad_norm.toDouble(), norm = global_grad_norm.toDouble();
  Tensor g = grad.to(at::kFloat);
  if (most > 0 && norm > most) g = g * (most / norm);
  const double first = beta1.toDouble(), second = beta2.toDouble();
  const Tensor var = out[0].to(at::kFloat);
  const Tensor m = out[1].to(at::kFloat) * first + g * (1 - first);
  const Tensor v = out[2].to(at::kFloat) * second + g * g * (1 - second);
  const Tensor update = m / (v.sqrt() + epsilon) + var * weight_decay;
  out[0].copy_(var - update * lr);
  out[1].copy_(m);
  out[2].copy_(v);
  return {out[0], out[1], out[2]};
}

}  // namespace torch_npu::custom
