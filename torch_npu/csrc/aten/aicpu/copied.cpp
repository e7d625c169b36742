#include "aten/aicpu/copied.h"

#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>

#include "aten/aicpu/dense.h"
#include "core/format.h"
#include "core/storage.h"

namespace torch_npu::aicpu {
namespace {

at::Tensor bytes_of(const c10::Storage& storage, c10::DispatchKey backend, std::size_t begin, std::size_t end) {
  auto impl = c10::make_intrusive<c10::TensorImpl>(c10::Storage(storage), c10::DispatchKeySet(backend),
                                                   caffe2::TypeMeta::Make<uint8_t>());
  const auto count = static_cast<int64_t>(end - begin);
  impl->set_sizes_and_strides(at::IntArrayRef(count), at::IntArrayRef{1}, static_cast<int64_t>(begin));
  return at::Tensor(std::move(impl));
}

}  // namespace

std::pair<std::size_t, std::size_t> extent_of(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return {0, 0};
  const std::size_t begin = static_cast<std::size_t>(tensor.storage_offset()) * tensor.itemsize();
  const std::size_t size = at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), tensor.itemsize());
  const std::size_t end = std::min(begin + size, tensor.storage().nbytes());  // the storage may have shrunk
  return {std::min(begin, end), end};
}

c10::Storage host_storage_like(const c10::Storage& npu, c10::DeviceIndex device) {
  c10::StorageImpl* impl = npu.unsafeGetStorageImpl();
  if (own_storage(*impl) == nullptr) check_device_memory(bytes_of(*impl, BytesLayout::kStored), impl->nbytes(), device);
  return c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(),
                                               c10::SymInt(static_cast<int64_t>(impl->nbytes())),
                                               c10::GetCPUAllocator(), impl->resizable());
}

c10::Storage device_storage_of(const c10::Storage& host, c10::DeviceIndex device) {
  c10::Storage created(make_storage(host.nbytes(), device));
  copy_bytes_to_device(host, created, 0, host.data() == nullptr ? 0 : host.nbytes());
  return created;
}

void copy_bytes_to_host(const c10::Storage& npu, const c10::Storage& host, std::size_t begin, std::size_t end) {
  if (begin == end) return;
  bytes_of(host, c10::DispatchKey::CPU, begin, end).copy_(bytes_of(npu, c10::DispatchKey::PrivateUse1, begin, end));
}

void copy_bytes_to_device(const c10::Storage& host, const c10::Storage& npu, std::size_t begin, std::size_t end) {
  if (begin == end) return;
  bytes_of(npu, c10::DispatchKey::PrivateUse1, begin, end).copy_(bytes_of(host, c10::DispatchKey::CPU, begin, end));
}

void sync_copied(const at::Tensor& npu, const at::Tensor& copy, const c10::Storage& storage) {
  c10::StorageImpl* bytes = storage.unsafeGetStorageImpl();
  if (copy.storage().nbytes() != bytes->nbytes()) resize_storage(*bytes, copy.storage().nbytes());
  sync_metadata(npu, copy, storage);
  if (copy.numel() == 0) return;
  // Tensors with overlapping elements, or without a copy kernel, are copied as bytes.
  if (at::has_internal_overlap(npu) == at::MemOverlap::Yes || npu.is_quantized()) {
    const auto [begin, end] = extent_of(copy);
    copy_bytes_to_device(copy.storage(), storage, begin, end);
  } else {
    npu.copy_(copy);
  }
}

}  // namespace torch_npu::aicpu
