#pragma once
// Host copies of npu storages and tensors, for host kernels that run on copies.

#include <ATen/core/Tensor.h>

#include <utility>

namespace torch_npu::aicpu {

// The byte range [begin, end) of its storage from the first to the last element of a dense tensor.
std::pair<std::size_t, std::size_t> extent_of(const at::Tensor& tensor);

// A host storage of the size of `npu`, with undefined contents.
c10::Storage host_storage_like(const c10::Storage& npu, c10::DeviceIndex device);

// A storage on `device` with the bytes of `host`.
c10::Storage device_storage_of(const c10::Storage& host, c10::DeviceIndex device);

// Copies the bytes [begin, end) of one storage to the same range of the other.
void copy_bytes_to_host(const c10::Storage& npu, const c10::Storage& host, std::size_t begin, std::size_t end);
void copy_bytes_to_device(const c10::Storage& host, const c10::Storage& npu, std::size_t begin, std::size_t end);

// Applies a kernel's changes of an argument's copy to the argument: elements, sizes, strides, the storage's size.
// `storage` is the npu storage for the copy's storage.
void sync_copied(const at::Tensor& npu, const at::Tensor& copy, const c10::Storage& storage);

}  // namespace torch_npu::aicpu
