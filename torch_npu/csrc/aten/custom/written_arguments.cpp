#include "aten/custom/written_arguments.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>

#include <utility>
#include <vector>

namespace torch_npu::custom {
namespace {

using at::Tensor;

void refuse_gradients(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const auto& parameters = op.schema().arguments();
  for (std::size_t i = 0; at::GradMode::is_enabled() && i < parameters.size(); ++i) {
    const c10::IValue& value = torch::jit::peek(*stack, i, parameters.size());
    TORCH_CHECK(!value.isTensor() || !value.toTensor().defined() || !value.toTensor().requires_grad(),
                op.operator_name(), ": ", parameters[i].name(),
                " requires a gradient, which is not computed: call it under torch.no_grad(), or detach the tensor");
  }
  at::AutoDispatchBelowAutograd guard;
  op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
}

void count_writes(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const auto& parameters = op.schema().arguments();
  std::vector<Tensor> written;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const c10::IValue& value = torch::jit::peek(*stack, i, parameters.size());
    const auto* alias = parameters[i].alias_info();
    if (alias != nullptr && alias->isWrite() && value.isTensor()) written.push_back(value.toTensor());
  }
  {
    at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
  }
  for (const Tensor& tensor : written) torch::autograd::increment_version(tensor);
}

void give_back_written(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const auto& parameters = op.schema().arguments();
  std::vector<c10::IValue> returned;
  for (std::size_t i = 0; !op.schema().returns().empty() && i < parameters.size(); ++i) {
    const auto* alias = parameters[i].alias_info();
    if (alias != nullptr && alias->isWrite()) returned.push_back(torch::jit::peek(*stack, i, parameters.size()));
  }
  torch::jit::drop(*stack, parameters.size());
  for (c10::IValue& value : returned) stack->push_back(std::move(value));
}

}  // namespace

void refuse_derivatives(torch::Library& m, std::initializer_list<const char*> names) {
  for (const char* name : names) m.impl(name, torch::CppFunction::makeFromBoxedFunction<&refuse_gradients>());
}

void write_no_meta(torch::Library& m, std::initializer_list<const char*> names) {
  for (const char* name : names) m.impl(name, torch::CppFunction::makeFromBoxedFunction<&give_back_written>());
}

void count_written(torch::Library& m, std::initializer_list<const char*> names) {
  for (const char* name : names) m.impl(name, torch::CppFunction::makeFromBoxedFunction<&count_writes>());
}

}  // namespace torch_npu::custom
