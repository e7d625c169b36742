#include "aten/aicpu/scope.h"

#include "aten/aicpu/cpu_view.h"
#include "aten/aicpu/dense.h"
#include "aten/aicpu/derived.h"
#include "aten/aicpu/expanded.h"
#include "aten/aicpu/overflow.h"
#include "core/device.h"

namespace torch_npu::aicpu {

AiCpuScope::AiCpuScope(const char* name, c10::DeviceIndex device)
    : name_(name), device_(device), scope_(device, name) {}

at::Tensor AiCpuScope::cpu_view(const at::Tensor& tensor, bool takes_cpu) const {
  if (!tensor.defined()) return tensor;
  auto refuse = [&] { throw_mixed_devices(npu_device(device_), tensor.device(), c10::str("aten::", name_)); };
  if (C10_UNLIKELY(!tensor.is_privateuseone())) {
    if (!tensor.is_cpu() || (tensor.dim() > 0 && !takes_cpu)) refuse();
    return tensor;
  }
  if (C10_UNLIKELY(tensor.device().index() != device_)) refuse();
  if (C10_UNLIKELY(!tensor.key_set().has(c10::DispatchKey::PrivateUse1))) return CpuViews(device_).to_cpu(tensor);
  reserve_temporaries(name_, device_, tensor);
  return dense_cpu_view(tensor, device_);
}

at::Tensor AiCpuScope::adopt(const at::Tensor& result) const {
  if (!result.defined() || !result.is_cpu()) return result;
  if (C10_UNLIKELY(!is_plain_cpu(result))) return CpuViews(device_).to_npu(result);
  check_overflow(name_, device_, result);
  return adopt_dense(result, device_);
}

at::Tensor AiCpuScope::view(const at::Tensor& argument, const at::Tensor& result) {
  return dense_like(argument.storage(), c10::DispatchKey::PrivateUse1, *result.unsafeGetTensorImpl());
}

void AiCpuScope::sync(const at::Tensor& argument, const at::Tensor& cpu_view,
                      const c10::StorageImpl* cpu_storage) const {
  if (!argument.defined() || !argument.is_privateuseone()) return;
  check_overflow(name_, device_, cpu_view);
  const c10::Storage& behind = cpu_view.storage();
  bool same = behind.unsafeGetStorageImpl() == cpu_storage;
  sync_dense(argument, cpu_view, same ? argument.storage() : adopt_storage(behind, device_), device_);
}

}  // namespace torch_npu::aicpu
