#include "aten/aicpu/fallback.h"

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <torch/library.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "aten/aicpu/checks.h"
#include "aten/aicpu/copying.h"
#include "aten/aicpu/cpu_view.h"
#include "aten/aicpu/dense_lists.h"
#include "aten/aicpu/error.h"
#include "aten/aicpu/expanded.h"
#include "aten/aicpu/host_call.h"
#include "aten/aicpu/random.h"
#include "aten/version_counters.h"
#include "core/device.h"

namespace torch_npu::aicpu {
namespace {

using c10::IValue;

// By its definition it takes CPU tensors (lengths, targets) together with npu tensors.
const c10::OperatorName kMixedDevices("aten::_ctc_loss", "Tensor");

template <typename Visit>
void for_each_tensor(const IValue& value, Visit visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& t : value.toTensorVector()) visit(t);
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& t : value.toOptionalTensorVector()) {
      if (t.has_value()) visit(*t);
    }
  }
}

// The device of the first npu tensor, else of a Device argument, else the current one.
c10::DeviceIndex device_of(const torch::jit::Stack& stack, std::size_t first) {
  c10::DeviceIndex found = -1;
  for (std::size_t i = first; i < stack.size(); ++i) {
    for_each_tensor(stack[i], [&](const at::Tensor& t) {
      if (found < 0 && t.defined() && t.is_privateuseone()) found = t.device().index();
    });
    if (found < 0 && stack[i].isDevice() && stack[i].toDevice().is_privateuseone()) {
      found = stack[i].toDevice().index();
    }
  }
  return found < 0 ? current_device() : found;
}

void check_devices(const c10::OperatorHandle& op, const torch::jit::Stack& stack, std::size_t first,
                   c10::DeviceIndex device) {
  bool npu = false;
  bool host = false;
  for (std::size_t i = first; i < stack.size(); ++i) {
    const bool are_indices = stack[i].isOptionalTensorList();  // may be on the host
    for_each_tensor(stack[i], [&](const at::Tensor& t) {
      if (!t.defined()) return;
      npu = npu || t.is_privateuseone();
      host = host || (t.is_cpu() && t.dim() > 0 && !are_indices);
    });
  }
  if (npu && host && op.operator_name() != kMixedDevices) {
    throw_mixed_devices(npu_device(device), c10::Device(c10::DeviceType::CPU), c10::toString(op.operator_name()));
  }
}

// The device that the caller requests for the results.
std::optional<c10::Device> named_device(const torch::jit::Stack& stack, std::size_t first) {
  for (std::size_t i = first; i < stack.size(); ++i) {
    if (stack[i].isDevice()) return stack[i].toDevice();
  }
  return std::nullopt;
}

IValue to_cpu(const IValue& value, CpuViews& cpu_views, bool may_write) {
  if (value.isTensor()) return cpu_views.to_cpu(value.toTensor(), may_write);
  if (value.isStorage()) return cpu_views.to_cpu(value.toStorage());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& t : value.toTensorVector()) list.push_back(cpu_views.to_cpu(t, may_write));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& t : value.toOptionalTensorVector()) {
      list.push_back(t.has_value() ? std::optional<at::Tensor>(cpu_views.to_cpu(*t, may_write)) : std::nullopt);
    }
    return list;
  }
  if (value.isDevice() && value.toDevice().is_privateuseone()) return c10::Device(c10::DeviceType::CPU);
  return value;
}

IValue to_npu(const IValue& value, CpuViews& cpu_views) {
  if (value.isTensor()) return cpu_views.to_npu(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& t : value.toTensorVector()) list.push_back(cpu_views.to_npu(t));
    return list;
  }
  return value;
}

bool is_generator(const c10::Argument& argument) {
  auto type = argument.real_type();
  if (auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  return type->kind() == c10::TypeKind::GeneratorType;
}

// Operators whose schemas do not declare that they write the running statistics.
bool writes_undeclared(const c10::OperatorName& name) {
  return name.name == "aten::native_batch_norm" || name.name == "aten::batch_norm_update_stats";
}

// The lists of tensors among the arguments, as vectors.
class Lists {
 public:
  Lists(torch::jit::Stack* stack, std::size_t first) : stack_(stack) {
    for (std::size_t i = first; i < stack->size(); ++i) {
      if (!(*stack)[i].isTensorList()) continue;
      places_.push_back(i);
      vectors_.push_back((*stack)[i].toTensorVector());
    }
  }
  std::vector<std::vector<at::Tensor>*> pointers() {
    std::vector<std::vector<at::Tensor>*> pointers;
    for (auto& vector : vectors_) pointers.push_back(&vector);
    return pointers;
  }
  // Passes the vectors to the kernel.
  void pass() const {
    for (std::size_t i = 0; i < places_.size(); ++i) (*stack_)[places_[i]] = vectors_[i];
  }

 private:
  torch::jit::Stack* stack_;
  std::vector<std::size_t> places_;
  std::vector<std::vector<at::Tensor>> vectors_;
};

bool reads_as_dense(const c10::OperatorName& name) {
  std::string_view base = name.name;
  if (!base.starts_with("aten::")) return false;
  base.remove_prefix(6);
  return std::ranges::find(dense_operators(), base) != dense_operators().end();
}

bool may_write(const c10::OperatorHandle& op, const c10::Argument& argument) {
  const c10::AliasInfo* alias = argument.alias_info();
  return (alias != nullptr && alias->isWrite()) || writes_undeclared(op.operator_name());
}

// The elements of the lists that the operator writes.
std::vector<at::Tensor> written_lists(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  std::vector<at::Tensor> found;
  const auto& arguments = op.schema().arguments();
  const std::size_t first = stack.size() - arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::AliasInfo* alias = arguments[i].alias_info();
    const IValue& value = stack[first + i];
    if (alias == nullptr || !alias->isWrite() || !value.isTensorList()) continue;
    for (const at::Tensor& tensor : value.toTensorVector()) found.push_back(tensor);
  }
  return found;
}

// The context of a kernel: a HostCall, which is an event in traces, on the bytes themselves; on copies no event.
class Scope {
 public:
  Scope(const char* name, c10::DeviceIndex device, Bytes bytes) {
    if (bytes == Bytes::kShared) {
      call_.emplace(device, name);
    } else {
      below_autograd_.emplace();
      no_autocast_.emplace(c10::autocast_dispatch_keyset);
    }
  }

 private:
  std::optional<HostCall> call_;
  std::optional<at::AutoDispatchBelowADInplaceOrView> below_autograd_;
  std::optional<c10::impl::ExcludeDispatchKeyGuard> no_autocast_;
};

}  // namespace

void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack, Bytes bytes) {
  const c10::FunctionSchema& schema = op.schema();
  const std::size_t count = schema.arguments().size();
  const std::size_t first = stack->size() - count;
  const c10::DeviceIndex device = device_of(*stack, first);
  bind_device(device);
  check_devices(op, *stack, first, device);
  const bool as_dense = reads_as_dense(op.operator_name());
  check_stack(op.operator_name().name, op.operator_name().overload_name, *stack, first);
  // Results for the host, or for another npu (through the host), are created in host memory and stay there.
  const std::optional<c10::Device> target = named_device(*stack, first);
  const bool leaves =
      target.has_value() && *target != c10::Device(c10::DeviceType::PrivateUse1) && *target != npu_device(device);

  const TemporariesScope temporaries;
  for (std::size_t i = first; i < stack->size(); ++i) {
    for_each_tensor((*stack)[i], [&](const at::Tensor& t) {
      if (t.defined() && t.is_privateuseone() && t.key_set().has(c10::DispatchKey::PrivateUse1)) {
        reserve_temporaries(op.operator_name().name.c_str(), device, t);
      }
    });
  }
  CpuViews cpu_views(device, bytes);
  std::optional<DefaultGeneratorSwap> swap;
  bool takes_generator = false;
  for (std::size_t i = 0; i < count; ++i) {
    IValue& value = (*stack)[first + i];
    if (is_generator(schema.arguments()[i])) {
      takes_generator = true;
      value = kernel_generator(value.toOptional<at::Generator>(), device);
    } else {
      value = to_cpu(value, cpu_views, may_write(op, schema.arguments()[i]));
      const bool is_written = schema.arguments()[i].alias_info() != nullptr;
      if (value.isTensor() && value.toTensor().defined() && !is_written && as_dense) {
        value = value.toTensor().contiguous();
      }
    }
  }
  std::optional<Lists> lists;
  std::optional<DenseLists> dense;
  if (as_dense) {
    lists.emplace(stack, first);
    dense.emplace(lists->pointers());
    lists->pass();
  }
  if (!takes_generator && op.hasTag(at::Tag::nondeterministic_seeded)) swap.emplace(device);
  {
    const Scope scope(op.operator_name().name.c_str(), device, bytes);
    std::optional<KernelScope> host;
    if (leaves) host.emplace(-1);
    try {
      op.callBoxed(stack);
    } catch (const std::exception&) {
      rethrow_as_npu(op.operator_name().name.c_str());
    }
  }
  if (dense.has_value()) dense->write_back();
  cpu_views.sync_arguments();
  const std::size_t results = schema.returns().size();
  for (std::size_t i = 0; i < results; ++i) {
    IValue& value = (*stack)[stack->size() - results + i];
    if (!leaves) {
      value = to_npu(value, cpu_views);
    } else if (target->is_privateuseone() && value.isTensor()) {
      value = value.toTensor().to(*target);
    }
  }
}

void run_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (copies_arguments()) return copying_fallback(op, stack);
  run_on_host(op, stack, Bytes::kShared);
}

namespace {

void compressed_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (copies_arguments()) return run_on_copies(op, stack, "CPU");
  run_on_host(op, stack, Bytes::kShared);
}

}  // namespace

void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::vector<at::Tensor> written = written_lists(op, *stack);
  if (written.empty()) return run_fallback(op, stack);
  {
    at::AutoDispatchBelowADInplaceOrView guard;  // copies back are no further writes
    run_fallback(op, stack);
  }
  raise_versions(written);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }
TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }
TORCH_LIBRARY_IMPL(_, QuantizedPrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }
TORCH_LIBRARY_IMPL(_, NestedTensorPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
}
TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&compressed_fallback>());
}

}  // namespace torch_npu::aicpu
