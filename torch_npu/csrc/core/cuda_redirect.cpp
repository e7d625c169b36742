// No tensor is ever on cuda, so the dispatcher meets the CUDA keys only where an operator is told to make one there. A
// fallback of these keys makes it on npu, and so do overrides of the kernels that a torch built with CUDA has for such
// operators. Calls that name another device, or none, never get here.

#include "core/cuda_redirect.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace torch_npu {
namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::DeviceType;
using c10::Stream;

Device on_npu(Device device) { return {DeviceType::PrivateUse1, device.index()}; }
Device on_cuda(Device device) { return {DeviceType::CUDA, device.index()}; }

// The npu's guard under the name cuda: generic code guards the device that it was told before it calls an operator.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  const DeviceGuardImplInterface* npu = c10::impl::getDeviceGuardImpl(DeviceType::PrivateUse1);

  DeviceType type() const override { return DeviceType::CUDA; }
  Device exchangeDevice(Device device) const override { return on_cuda(npu->exchangeDevice(on_npu(device))); }
  Device getDevice() const override { return on_cuda(npu->getDevice()); }
  void setDevice(Device device) const override { npu->setDevice(on_npu(device)); }
  void uncheckedSetDevice(Device device) const noexcept override { npu->uncheckedSetDevice(on_npu(device)); }
  Stream getStream(Device device) const override { return npu->getStream(on_npu(device)); }
  Stream exchangeStream(Stream stream) const override { return npu->exchangeStream(stream); }
  DeviceIndex deviceCount() const noexcept override { return npu->deviceCount(); }
};

// Read by threads that run TorchScript without the GIL.
std::atomic<bool> is_on = false;

// TorchScript's own `x.to("cuda")` initializes CUDA before it calls the dispatcher. While on, it gets an npu.
void replace_to_of_torchscript() {
  static std::shared_ptr<torch::jit::Operator> original;  // graphs that ran already refer to it
  if (original) return;
  original = torch::jit::findOperatorFor({"aten::to", "prim_Device"});
  if (!original) return;
  const auto& schema = original->schema();
  auto to = [run = original->getOperation()](torch::jit::Stack& stack) mutable {
    c10::IValue& device = torch::jit::peek(stack, 1, 5);
    if (is_on && device.isDevice() && device.toDevice().is_cuda()) device = on_npu(device.toDevice());
    run(stack);
  };
  torch::jit::Operator replacement(schema.name(), schema.overload_name(), schema.arguments(), schema.returns(),
                                   torch::jit::Operation(std::move(to)), original->aliasAnalysisKind());
  torch::jit::deregisterOperator(schema);
  torch::jit::registerOperator(std::move(replacement));
}

void make_on_npu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  size_t count = op.schema().arguments().size();
  for (size_t i = 0; i < count; ++i) {
    c10::IValue& argument = torch::jit::peek(*stack, i, count);
    if (argument.isDevice() && argument.toDevice().is_cuda()) argument = on_npu(argument.toDevice());
  }
  op.callBoxed(stack);
}

using Libraries = std::vector<std::unique_ptr<torch::Library>>;

// The registrations, guarded by the GIL; they last as long as their objects. Never freed.
Libraries& registered_libraries() {
  static auto* libraries = std::make_unique<Libraries>().release();  // the dispatcher may end before
  return *libraries;
}

// That a kernel is overridden is what this is for.
struct Silent final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

bool names_device(const c10::FunctionSchema& schema) {
  return std::ranges::any_of(schema.arguments(), [](const c10::Argument& a) { return a.name() == "device"; });
}

// Operators of `key` that have a kernel of their own and are told a device.
void override_kernels(c10::DispatchKey key) {
  auto library = std::make_unique<torch::Library>(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findSchema(name);
    const bool is_own = op && name.name.starts_with("aten::") && op->hasKernelForDispatchKey(key);
    if (!is_own || !names_device(op->schema())) continue;
    const std::string full = c10::toString(name);
    library->impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&make_on_npu>());
  }
  registered_libraries().push_back(std::move(library));
}

}  // namespace

void set_cuda_redirect(bool on) {
  static const auto* guard = std::make_unique<const Guard>().release();  // guards may run at exit
  static const c10::impl::DeviceGuardImplInterface* earlier = nullptr;   // of a torch built with CUDA; under the GIL
  auto& slot = c10::impl::device_guard_impl_registry[static_cast<size_t>(DeviceType::CUDA)];
  if (!on) {
    is_on = false;
    registered_libraries().clear();
    const c10::impl::DeviceGuardImplInterface* ours = guard;
    slot.compare_exchange_strong(ours, earlier);
    return;
  }
  if (!registered_libraries().empty()) return;
  earlier = slot.load();
  TORCH_CHECK(earlier == nullptr || earlier->deviceCount() == 0,
              "cuda devices cannot be mapped to npu: this torch is built with CUDA and has a GPU");
  slot.store(guard);
  Silent silent;
  const c10::WarningUtils::WarningHandlerGuard handler(&silent);
  for (c10::DispatchKey key : {c10::DispatchKey::CUDA, c10::DispatchKey::SparseCUDA, c10::DispatchKey::SparseCsrCUDA,
                               c10::DispatchKey::QuantizedCUDA, c10::DispatchKey::NestedTensorCUDA}) {
    auto library = std::make_unique<torch::Library>(torch::Library::IMPL, "_", key, __FILE__, __LINE__);
    library->fallback(torch::CppFunction::makeFromBoxedFunction<&make_on_npu>());
    registered_libraries().push_back(std::move(library));
    if (earlier != nullptr) override_kernels(key);
  }
  replace_to_of_torchscript();
  is_on = true;
}

}  // namespace torch_npu
