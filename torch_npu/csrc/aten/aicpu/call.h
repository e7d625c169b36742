#pragma once
// One call of a CPU kernel on the bytes of npu tensors, without boxing. The generated wrappers are built from it.

#include <ATen/core/Tensor.h>

#include "aten/aicpu/host_call.h"

namespace torch_npu::aicpu {

class Call {
 public:
  // For the operator `name` (a literal) on `device`.
  Call(const char* name, c10::DeviceIndex device);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  c10::DeviceIndex device() const { return device_; }

  // What the kernel is given for a tensor argument: an npu tensor's alias, a CPU scalar as it is. Throws for a tensor
  // of another device, and for other CPU tensors unless `takes_cpu`.
  at::Tensor alias(const at::Tensor& tensor, bool takes_cpu) const;

  // What the caller is given for a result that is new: npu memory without a copy wherever the kernel allocated it here.
  at::Tensor adopt(const at::Tensor& result) const;

  // A result that shares the storage of an argument's alias: the same view of the argument.
  static at::Tensor view(const at::Tensor& argument, const at::Tensor& result);

  // Passes on to an argument that the kernel may write what it changed beside the bytes: sizes, strides, storage.
  // `twin` is the storage that the alias was made with.
  void sync(const at::Tensor& argument, const at::Tensor& alias, const c10::StorageImpl* twin) const;

 private:
  const char* name_;
  const c10::DeviceIndex device_;
  HostCall scope_;
};

}  // namespace torch_npu::aicpu
