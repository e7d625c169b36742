// The gradients of npu_moe_token_unpermute, of which that of the probabilities may be absent.

#include <ATen/core/Tensor.h>
#include <aclnnop/aclnn_moe_token_unpermute_grad.h>

#include "aten/custom/inputs.h"
#include "aten/custom/shapes.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {

std::tuple<at::Tensor, at::Tensor> npu_moe_token_unpermute_grad(
    const at::Tensor& permuted_tokens, const at::Tensor& grad_unpermuted_tokens, const at::Tensor& sorted_indices,
    const std::optional<at::Tensor>& probs, bool padded_mode, at::OptionalIntArrayRef restore_shape) {
  static const AclnnOp<decltype(aclnnMoeTokenUnpermuteGradGetWorkspaceSize)> function("aclnnMoeTokenUnpermuteGrad");
  constexpr aclnn_check::Dtypes kFloating = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});
  Inputs inputs("npu_moe_token_unpermute_grad", "aclnnMoeTokenUnpermuteGrad", function.available());
  inputs.take("permuted_tokens", permuted_tokens, kFloating);
  inputs.take("grad_unpermuted_tokens", grad_unpermuted_tokens, kFloating);
  inputs.take("sorted_indices", sorted_indices, dtypes({at::kInt, at::kLong}));
  inputs.take("probs", probs, kFloating);
  bind_device(inputs.device());
  const auto sums = shapes::unpermuted_tokens(permuted_tokens, sorted_indices, probs, padded_mode);
  TORCH_CHECK(grad_unpermuted_tokens.sym_sizes() == c10::SymIntArrayRef(sums.sizes),
              "grad_unpermuted_tokens is of size ", grad_unpermuted_tokens.sizes(), ": ",
              c10::SymIntArrayRef(sums.sizes), " is taken");
  at::Tensor drows = shapes::like(permuted_tokens).make();
  at::Tensor dprobs = shapes::like_given(probs).make();
  const bool has_work = drows.numel() > 0 || (dprobs.defined() && dprobs.numel() > 0);
  if (has_work) {
    function(inputs.device(), permuted_tokens, grad_unpermuted_tokens, sorted_indices, probs, padded_mode,
             restore_shape, drows, dprobs);
  }
  return {drows, dprobs};
}

}  // namespace torch_npu::custom
