#include "aten/composed/operands.h"

#include <ATen/core/grad_mode.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>

#include "aten/custom/inputs.h"

namespace torch_npu::custom {

Operands& Operands::take(const char* role, const at::Tensor& tensor, aclnn_check::Dtypes allowed) {
  const bool fits = tensor.defined() && tensor.layout() == at::kStrided &&
                    (tensor.is_privateuseone() || tensor.is_meta()) &&
                    device_.value_or(tensor.device()) == tensor.device() &&
                    (aclnn_check::dtype_bit(tensor.scalar_type()) & allowed) != 0;
  if (!fits) refuse_tensor(name_, role, tensor, allowed);
  device_ = tensor.device();
  return *this;
}

Operands& Operands::take(const char* role, const std::optional<at::Tensor>& tensor, aclnn_check::Dtypes allowed) {
  return tensor.has_value() && tensor->defined() ? take(role, *tensor, allowed) : *this;
}

Operands& Operands::take(const char* role, at::TensorList tensors, aclnn_check::Dtypes allowed) {
  for (const at::Tensor& tensor : tensors) take(role, tensor, allowed);
  return *this;
}

at::Tensor apart_from(const at::Tensor& input, const at::Tensor& result) {
  return result.is_alias_of(input) ? result.clone(at::MemoryFormat::Contiguous) : result.contiguous();
}

at::Tensor& give(const at::Tensor& result, at::Tensor& out) {
  TORCH_CHECK(out.scalar_type() == result.scalar_type(), "Expected out to have dtype ", result.dtype(), ", but got ",
              out.dtype(), " instead");
  TORCH_CHECK(out.device() == result.device(), "Expected out to be on ", result.device(), ", but got ", out.device(),
              " instead");
  at::native::resize_output_symint(out, result.sym_sizes());
  return out.copy_(result);
}

at::Tensor in_compute_type(const at::Tensor& tensor) {
  const bool is_16_bit = tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
  return is_16_bit ? tensor.to(at::kFloat) : tensor;
}

std::vector<at::Tensor> gradients_of(const Composition& function, std::vector<at::Tensor> inputs,
                                     const std::vector<at::Tensor>& grads) {
  if (inputs[0].is_meta()) {
    for (at::Tensor& input : inputs) input = at::empty_like(input, at::MemoryFormat::Contiguous);
    return inputs;
  }
  // Kernels run below autograd, which this needs again.
  const auto keys = c10::impl::tls_local_dispatch_key_set();
  const c10::impl::ForceDispatchKeyGuard above(keys.included_,
                                               keys.excluded_ - c10::autograd_dispatch_keyset_with_ADInplaceOrView);
  const at::AutoGradMode enabled(true);
  for (at::Tensor& input : inputs) input = input.detach().requires_grad_();
  std::vector<at::Tensor> found = torch::autograd::grad(function(inputs), inputs, grads, /*retain_graph=*/std::nullopt,
                                                        /*create_graph=*/false, /*allow_unused=*/true);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].defined()) found[i] = at::zeros_like(inputs[i]);
    found[i] = found[i].detach().contiguous();
  }
  return found;
}

}  // namespace torch_npu::custom
