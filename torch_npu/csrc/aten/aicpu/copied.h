#pragma once
// Storages of npu tensors and copies of them in host memory, for kernels of the host that run on copies.

#include <ATen/core/Tensor.h>

#include <utility>

namespace torch_npu::aicpu {

// The bytes of its storage from the first to the last element of a dense tensor: [begin, end).
std::pair<std::size_t, std::size_t> extent_of(const at::Tensor& tensor);

// A host storage of the size of `npu`. Its bytes are undefined.
c10::Storage host_storage_like(const c10::Storage& npu, c10::DeviceIndex device);

// A storage on `device` with the bytes of `host`.
c10::Storage device_storage_of(const c10::Storage& host, c10::DeviceIndex device);

// The bytes [begin, end) of one storage go to the same place of the other.
void copy_bytes_to_host(const c10::Storage& npu, const c10::Storage& host, std::size_t begin, std::size_t end);
void copy_bytes_to_device(const c10::Storage& host, const c10::Storage& npu, std::size_t begin, std::size_t end);

// Passes on what a kernel changed about an argument of which it had a copy: elements, sizes, strides, the storage's
// size. `storage` is the npu storage of the copy's storage.
void sync_copied(const at::Tensor& npu, const at::Tensor& copy, const c10::Storage& storage);

}  // namespace torch_npu::aicpu
