#pragma once
// The storage of an npu tensor: PyTorch's, with room for what only this device knows.

#include <c10/core/StorageImpl.h>

namespace torch_npu {

class StorageImpl final : public c10::StorageImpl {
 public:
  using c10::StorageImpl::StorageImpl;

  // The same bytes as a CPU storage, made on first use and kept: what AI CPU kernels are given. It owns nothing.
  // Calls on one storage are ordered by the caller, as for any tensor.
  c10::intrusive_ptr<c10::StorageImpl>& cpu_twin() { return cpu_twin_; }

  // aclFormat of the bytes. Only base formats (ND here) exist so far.
  int format() const { return format_; }

  void release_resources() override;

 private:
  c10::intrusive_ptr<c10::StorageImpl> cpu_twin_;
  int format_ = 2;  // ACL_FORMAT_ND
};

// A storage of `nbytes` on `device` from the caching allocator.
c10::intrusive_ptr<c10::StorageImpl> make_storage(std::size_t nbytes, c10::DeviceIndex device);

// A storage that takes over `data`, whose device is an npu.
c10::intrusive_ptr<c10::StorageImpl> make_storage(std::size_t nbytes, c10::DataPtr data);

// Grows or shrinks a storage and keeps the bytes that fit.
void resize_storage(c10::StorageImpl& storage, std::size_t nbytes);

}  // namespace torch_npu
