#pragma once
// Dense npu tensors as CPU kernels see them, and back: the same bytes, no copy.

#include <ATen/core/Tensor.h>

namespace torch_npu::aicpu {

// The CPU storage over the bytes of `storage`. It is resizable where that is, into the device's memory.
c10::intrusive_ptr<c10::StorageImpl> cpu_storage_of(const c10::Storage& storage, c10::DeviceIndex device);

// The CPU tensor over the bytes of `npu`, a dense tensor of `device`. Its storage is kept with the npu storage. It is
// made without what autograd needs unless `with_autograd`.
at::Tensor dense_cpu_view(const at::Tensor& npu, c10::DeviceIndex device, bool with_autograd = false);

// A tensor of `storage` that is otherwise as `like`: `backend` is its dispatch key.
at::Tensor dense_like(c10::Storage storage, c10::DispatchKey backend, const c10::TensorImpl& like);

// The npu storage that takes over the bytes of a kernel's result; `cpu` goes on naming them without owning them. Bytes
// that do not lie in the device's memory are copied there.
c10::Storage adopt_storage(const c10::Storage& cpu, c10::DeviceIndex device);

// The npu tensor that takes over a kernel's new dense result, which the caller gives up.
at::Tensor adopt_dense(const at::Tensor& result, c10::DeviceIndex device);

// Passes on what a kernel changed about an argument beside its bytes: sizes, strides, dtype, the storage's size and
// place. `storage` is the npu storage behind the cpu_view now.
void sync_dense(const at::Tensor& npu, const at::Tensor& cpu_view, const c10::Storage& storage,
                c10::DeviceIndex device);

// The same without the bytes: sizes, strides, dtype, which storage.
void sync_metadata(const at::Tensor& npu, const at::Tensor& cpu_view, const c10::Storage& storage);

}  // namespace torch_npu::aicpu
