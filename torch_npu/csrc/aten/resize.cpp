// resize_ and set_: operators that change a tensor's sizes or storage.

#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/ResizeCommon.h>
#include <torch/library.h>

#include "aten/empty.h"
#include "core/allocator/caching_allocator.h"
#include "core/device.h"
#include "core/storage.h"

namespace torch_npu {
namespace {

void grow(c10::TensorImpl* self, std::size_t nbytes) {
  if (self->numel() == 0) return;
  c10::StorageImpl* storage = self->unsafe_storage().unsafeGetStorageImpl();
  if (nbytes > storage->nbytes()) resize_storage(*storage, nbytes);
}

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat> format) {
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  std::size_t old_nbytes = impl->unsafe_storage() ? impl->unsafe_storage().nbytes() : 0;
  if (impl->sizes() != size) {
    impl->set_sizes_contiguous(size);
    grow(impl, at::detail::computeStorageNbytesContiguous(size, impl->itemsize(),
                                                          static_cast<std::size_t>(impl->storage_offset())));
  }
  if (format.has_value()) {
    TORCH_CHECK(*format != at::MemoryFormat::Preserve, "Unsupported memory format", *format);
    impl->empty_tensor_restride(*format);
  }
  if (C10_UNLIKELY(fills_uninitialized())) {
    at::native::fill_resize_deterministic_(self, static_cast<int64_t>(old_nbytes));
  }
  return self;
}

at::Tensor& set_storage_offset(at::Tensor& self, at::Storage source, int64_t offset, at::IntArrayRef size,
                               at::IntArrayRef stride) {
  at::native::checkSetStorage(self, std::move(source), offset, size, stride, /*check_offset_in_bounds=*/false);
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  const auto elements = static_cast<std::size_t>(offset);
  std::size_t nbytes = 0;
  // Before any change: rejects negative strides, which sizes and strides would treat as contiguous.
  if (stride.data() != nullptr) nbytes = at::detail::computeStorageNbytes(size, stride, impl->itemsize(), elements);
  impl->set_storage_offset(offset);
  if (stride.data() == nullptr) {
    impl->set_sizes_contiguous(size);
    nbytes = at::detail::computeStorageNbytesContiguous(size, impl->itemsize(), elements);
  } else {
    impl->set_sizes_and_strides(size, stride);
  }
  grow(impl, nbytes);
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source) {
  auto count = static_cast<int64_t>(source.nbytes() / self.dtype().itemsize());
  return set_storage_offset(self, std::move(source), 0, count, {});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  if (self.is_same(source)) return self;
  return set_storage_offset(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

at::Tensor& set_empty(at::Tensor& self) {
  return set_storage_offset(self, c10::Storage(make_storage(0, self.device().index())), 0, {0}, {});
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("resize_", &resize_);
  m.impl("set_.source_Storage_storage_offset", &set_storage_offset);
  m.impl("set_.source_Storage", &set_storage);
  m.impl("set_.source_Tensor", &set_tensor);
  m.impl("set_", &set_empty);
}

}  // namespace
}  // namespace torch_npu
