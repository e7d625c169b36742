#pragma once
// Conversion of dense npu tensors to CPU tensors and back, on the same bytes.

#include <ATen/core/Tensor.h>

namespace torch_npu::aicpu {

// The CPU storage over the bytes of `storage`. It is resizable if `storage` is; it then grows in device memory.
c10::intrusive_ptr<c10::StorageImpl> cpu_storage_of(const c10::Storage& storage, c10::DeviceIndex device);

// The CPU tensor over the bytes of `npu`, a dense tensor of `device`. Its storage is cached in the npu storage. Without
// `with_autograd` it lacks the state that autograd needs.
at::Tensor dense_cpu_view(const at::Tensor& npu, c10::DeviceIndex device, bool with_autograd = false);

// A tensor over `storage`, otherwise like `like`; `backend` is its dispatch key.
at::Tensor dense_like(c10::Storage storage, c10::DispatchKey backend, const c10::TensorImpl& like);

// The npu storage that takes ownership of the bytes of a kernel's result; `cpu` refers to them without owning them.
// Bytes outside of device memory are copied.
c10::Storage adopt_storage(const c10::Storage& cpu, c10::DeviceIndex device);

// The npu tensor that takes over a kernel's new dense result; the caller must not use `result` afterwards.
at::Tensor adopt_dense(const at::Tensor& result, c10::DeviceIndex device);

// Applies a kernel's changes of an argument except for its bytes: sizes, strides, dtype, the storage's size and
// address. `storage` is the npu storage of the cpu_view now.
void sync_dense(const at::Tensor& npu, const at::Tensor& cpu_view, const c10::Storage& storage,
                c10::DeviceIndex device);

// The same without the storage's size and address: sizes, strides, dtype, which storage.
void sync_metadata(const at::Tensor& npu, const at::Tensor& cpu_view, const c10::Storage& storage);

}  // namespace torch_npu::aicpu
