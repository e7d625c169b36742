// The gradients of npu_add_layer_norm, of which one may be absent.

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>
#include <aclnnop/aclnn_add_layer_norm_grad.h>

#include "aten/custom/inputs.h"
#include "aten/custom/shapes.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> npu_add_layer_norm_backward(
    const std::optional<at::Tensor>& dy_opt, const at::Tensor& x1, const at::Tensor& x2, const at::Tensor& rstd,
    const at::Tensor& mean, const at::Tensor& gamma, const std::optional<at::Tensor>& dsum_opt) {
  static const AclnnOp<decltype(aclnnAddLayerNormGradGetWorkspaceSize)> function("aclnnAddLayerNormGrad");
  constexpr aclnn_check::Dtypes kFloating = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});
  Inputs inputs("npu_add_layer_norm_backward", "aclnnAddLayerNormGrad", function.available());
  inputs.take("x1", x1, kFloating);
  inputs.take("x2", x2, kFloating);
  inputs.take("rstd", rstd, kFloating);
  inputs.take("mean", mean, kFloating);
  inputs.take("gamma", gamma, kFloating);
  inputs.take("dy_opt", dy_opt, kFloating);
  inputs.take("dsum_opt", dsum_opt, kFloating);
  bind_device(inputs.device());
  const bool has_dy = dy_opt.has_value() && dy_opt->defined();
  at::Tensor dx = shapes::sum_of(x1, x2).make();
  at::Tensor dgamma = shapes::widened(gamma).make();
  at::Tensor dbeta = shapes::widened(gamma).make();
  if (dx.numel() == 0) return {dx, dx.clone(), dgamma.zero_(), dbeta.zero_()};
  const at::Tensor dy = has_dy ? *dy_opt : at::zeros_like(dx);
  function(inputs.device(), dy, x1, x2, rstd, mean, gamma, dsum_opt, dx, dgamma, dbeta);
  return {dx, dx.clone(), dgamma, dbeta};
}

}  // namespace torch_npu::custom
