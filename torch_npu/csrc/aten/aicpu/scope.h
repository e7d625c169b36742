#pragma once
// One call of a CPU kernel on the bytes of npu tensors, without boxing. The generated wrappers are built from it.

#include <ATen/core/Tensor.h>

#include "aten/aicpu/host_call.h"

namespace torch_npu::aicpu {

class AiCpuScope {
 public:
  // For the operator `name` (a literal) on `device`.
  AiCpuScope(const char* name, c10::DeviceIndex device);
  AiCpuScope(const AiCpuScope&) = delete;
  AiCpuScope& operator=(const AiCpuScope&) = delete;

  c10::DeviceIndex device() const { return device_; }

  // What the kernel is given for a tensor argument: an npu tensor's cpu_view, a CPU scalar as it is. Throws for a
  // tensor of another device, and for other CPU tensors unless `takes_cpu`.
  at::Tensor cpu_view(const at::Tensor& tensor, bool takes_cpu) const;

  // What the caller is given for a result that is new: npu memory without a copy wherever the kernel allocated it here.
  at::Tensor adopt(const at::Tensor& result) const;

  // A result that shares the storage of an argument's cpu_view: the same view of the argument.
  static at::Tensor view(const at::Tensor& argument, const at::Tensor& result);

  // Passes on to an argument that the kernel may write what it changed beside the bytes: sizes, strides, storage.
  // `cpu_storage` is the storage that the cpu_view was made with.
  void sync(const at::Tensor& argument, const at::Tensor& cpu_view, const c10::StorageImpl* cpu_storage) const;

 private:
  const char* name_;
  const c10::DeviceIndex device_;
  HostCall scope_;
};

}  // namespace torch_npu::aicpu
