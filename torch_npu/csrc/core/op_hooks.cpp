#include "core/op_hooks.h"

#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

namespace torch_npu::op_hooks {
namespace {

std::atomic<Begin> begin_hook{nullptr};
std::atomic<Visit> before_hook{nullptr};
std::atomic<Visit> after_hook{nullptr};
std::atomic<End> end_hook{nullptr};
std::optional<at::CallbackHandle> callback;  // guarded by enable()'s caller
thread_local bool is_within = false;         // an operator whose hooks are being called, or that runs

template <typename Function>
void for_each_tensor(c10::ArrayRef<const c10::IValue> values, const Function& function) {
  for (const c10::IValue& value : values) {
    if (value.isTensor() && value.toTensor().defined()) {
      function(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) function(tensor);
    }
  }
}

struct Hooked : at::ObserverContext {};

std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& call) {
  if (is_within) return nullptr;
  bool has_npu = false;
  for_each_tensor(call.inputs(), [&](const at::Tensor& tensor) { has_npu |= tensor.is_privateuseone(); });
  if (!has_npu) return nullptr;
  is_within = true;
  if (const Begin hook = begin_hook) hook(call.name());
  if (const Visit hook = before_hook) for_each_tensor(call.inputs(), hook);
  return std::make_unique<Hooked>();
}

void end(const at::RecordFunction& call, at::ObserverContext* context) {
  if (context == nullptr) return;
  if (const Visit hook = after_hook) {
    for_each_tensor(c10::ArrayRef<const c10::IValue>(call.outputs().data(), call.outputs().size()), hook);
  }
  if (const End hook = end_hook) hook();
  is_within = false;
}

}  // namespace

void set_begin(Begin hook) { begin_hook = hook; }
void set_before(Visit hook) { before_hook = hook; }
void set_after(Visit hook) { after_hook = hook; }
void set_end(End hook) { end_hook = hook; }

void enable(bool on) {
  if (on == callback.has_value()) return;
  if (!on) return at::removeCallback(*std::exchange(callback, std::nullopt));
  callback = at::addGlobalCallback(at::RecordFunctionCallback(&start, &end)
                                       .needsInputs(true)
                                       .needsOutputs(true)
                                       .scopes({at::RecordScope::FUNCTION}));
}

}  // namespace torch_npu::op_hooks
