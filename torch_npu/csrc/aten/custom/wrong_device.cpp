#include "aten/custom/wrong_device.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <memory>
#include <string>
#include <string_view>

namespace torch_npu {
namespace {

constexpr std::string_view kNamespace = "npu::";

void refuse(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& parameters = op.schema().arguments();
  const auto values = torch::jit::last(*stack, parameters.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const c10::IValue& value = values[i];
    const at::Tensor tensor = value.isTensor()                                          ? value.toTensor()
                              : value.isTensorList() && value.toTensorList().size() > 0 ? value.toTensorList().get(0)
                                                                                        : at::Tensor();
    TORCH_CHECK(!tensor.defined(), op.operator_name(), ": ", parameters[i].name(), " is on ", tensor.device(),
                "; tensors on npu are taken");
  }
  TORCH_CHECK(false, op.operator_name(), " takes tensors on npu");
}

bool has_other_kernel(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CPU) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd);
}

}  // namespace

void refuse_cpu_tensors() {
  // Never destroyed: used until the end of the process.
  static auto& library =
      *std::make_unique<torch::Library>(torch::Library::IMPL, "npu", c10::DispatchKey::CPU, __FILE__, __LINE__)
           .release();
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (!std::string_view(name.name).starts_with(kNamespace)) continue;
    const auto op = dispatcher.findSchema(name);
    if (!op.has_value() || has_other_kernel(*op)) continue;
    const std::string local =
        name.name.substr(kNamespace.size()) + (name.overload_name.empty() ? "" : "." + name.overload_name);
    library.impl(local.c_str(), torch::CppFunction::makeFromBoxedFunction<&refuse>());
  }
}

}  // namespace torch_npu
