// Two operators for torch.ops, each one call of an aclnn function, and their derivative. swish(x) = x sigmoid(x).

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "op_plugin/utils/op_api_common.h"

namespace {

at::Tensor swish(const at::Tensor& x) {
  const c10::OptionalDeviceGuard guard(device_of(x));
  at::Tensor out = at::empty_like(x);
  EXEC_NPU_CMD(aclnnSilu, x, out);
  return out;
}

at::Tensor swish_backward(const at::Tensor& grad, const at::Tensor& x) {
  const c10::OptionalDeviceGuard guard(device_of(x));
  at::Tensor out = at::empty_like(x);
  EXEC_NPU_CMD(aclnnSiluBackward, grad, x, out);
  return out;
}

// On the device meta only sizes are computed: torch.compile and FakeTensor need it.
at::Tensor swish_meta(const at::Tensor& x) { return at::empty_like(x); }
at::Tensor swish_backward_meta(const at::Tensor&, const at::Tensor& x) { return at::empty_like(x); }

template <typename Signature>
auto find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

class Swish : public torch::autograd::Function<Swish> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
    static const auto op = find<at::Tensor(const at::Tensor&)>("npu_extension_aclnn::swish");
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({x});
    return op.call(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    static const auto op =
        find<at::Tensor(const at::Tensor&, const at::Tensor&)>("npu_extension_aclnn::swish_backward");
    return {op.call(grads[0], context->get_saved_variables()[0])};
  }
};

at::Tensor swish_autograd(const at::Tensor& x) { return Swish::apply(x); }

TORCH_LIBRARY(npu_extension_aclnn, m) {
  m.def("swish(Tensor x) -> Tensor");
  m.def("swish_backward(Tensor grad, Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(npu_extension_aclnn, PrivateUse1, m) {
  m.impl("swish", &swish);
  m.impl("swish_backward", &swish_backward);
}

TORCH_LIBRARY_IMPL(npu_extension_aclnn, AutogradPrivateUse1, m) { m.impl("swish", &swish_autograd); }

TORCH_LIBRARY_IMPL(npu_extension_aclnn, Meta, m) {
  m.impl("swish", &swish_meta);
  m.impl("swish_backward", &swish_backward_meta);
}

}  // namespace
