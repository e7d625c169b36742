#pragma once
// One unboxed call of a CPU kernel on the bytes of npu tensors. The generated wrappers are built from it.

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

  // The kernel's argument for a tensor: the CPU view of an npu tensor; a CPU scalar unchanged. Throws for a tensor of
  // another device, and for other CPU tensors unless `takes_cpu`.
  at::Tensor cpu_view(const at::Tensor& tensor, bool takes_cpu) const;

  // The caller's result for a new tensor: npu memory, without a copy if the kernel allocated it within this scope.
  at::Tensor adopt(const at::Tensor& result) const;

  // For a result that shares the storage of an argument's CPU view: the same view of the argument.
  static at::Tensor view(const at::Tensor& argument, const at::Tensor& result);

  // Applies a kernel's changes, except for bytes, to an argument that it may write: sizes, strides, storage.
  // `cpu_storage` is the storage with which the CPU view was made.
  void sync(const at::Tensor& argument, const at::Tensor& cpu_view, const c10::StorageImpl* cpu_storage) const;

 private:
  const char* name_;
  const c10::DeviceIndex device_;
  HostCall scope_;
};

}  // namespace torch_npu::aicpu
