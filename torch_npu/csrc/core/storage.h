#pragma once
// The storage of an npu tensor: PyTorch's, with additional state of this device.

#include <c10/core/ScalarType.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/SmallVector.h>

#include <atomic>
#include <memory>
#include <utility>

namespace torch_npu {

// A storage that is set once: of concurrent threads that read one tensor, all get the first one's.
class SharedStorage {
 public:
  SharedStorage() = default;
  SharedStorage(const SharedStorage&) = delete;
  SharedStorage& operator=(const SharedStorage&) = delete;
  ~SharedStorage() { reset(); }

  // Null before the first put().
  c10::StorageImpl* get() const { return held_.load(std::memory_order_acquire); }

  // Stores `storage` if there is none yet; returns the stored one.
  c10::StorageImpl* put(c10::intrusive_ptr<c10::StorageImpl> storage) {
    c10::StorageImpl* held = nullptr;
    if (!held_.compare_exchange_strong(held, storage.get(), std::memory_order_acq_rel)) return held;
    return storage.release();
  }

  // Only if no other thread uses the tensor: when it is resized and when it is destroyed.
  void reset() {
    // Released at the end of the statement.
    (void)c10::intrusive_ptr<c10::StorageImpl>::reclaim(held_.exchange(nullptr, std::memory_order_acq_rel));
  }

 private:
  std::atomic<c10::StorageImpl*> held_{nullptr};  // owned
};

// The layout of the tensor in a storage with a private format.
struct PrivateLayout {
  c10::SmallVector<int64_t, 5> sizes;
  c10::ScalarType dtype;
  c10::SmallVector<int64_t, 8> storage_shape;  // the sizes in memory
};

class StorageImpl final : public c10::StorageImpl {
 public:
  using c10::StorageImpl::StorageImpl;
  ~StorageImpl() override;

  // The same bytes as a CPU storage for AI CPU kernels, created on first use and cached. It does not own the bytes.
  SharedStorage& cpu_storage() { return cpu_storage_; }

  // The aclFormat that the program set; kNoFormat if none.
  static constexpr int kNoFormat = -1;
  int format() const { return format_.load(std::memory_order_acquire); }
  void set_format(int format) { format_.store(format, std::memory_order_release); }

  // Whether data() are blocks of a private format. nbytes() is the size of the elements, without padding.
  bool has_private_layout() const { return has_private_layout_.load(std::memory_order_acquire); }
  void set_private_layout_active(bool on);

  // The private format with which it was made, which it may have lost since; null for other storages. Lives as long as
  // the storage.
  const PrivateLayout* private_layout() const { return private_layout_.get(); }
  void set_private_layout(std::unique_ptr<const PrivateLayout> blocks) { private_layout_ = std::move(blocks); }

  // The number of storages whose data() are blocks.
  static int64_t count_private_storage() { return count_private_storage_.load(std::memory_order_acquire); }

  void release_resources() override;

 private:
  SharedStorage cpu_storage_;
  std::atomic<int> format_{kNoFormat};
  std::atomic<bool> has_private_layout_{false};
  std::unique_ptr<const PrivateLayout> private_layout_;
  static std::atomic<int64_t> count_private_storage_;
};

// Our storage class, or null for storages that PyTorch created without it.
StorageImpl* own_storage(const c10::StorageImpl& storage);

// A storage of `nbytes` on `device` from the caching allocator.
c10::intrusive_ptr<c10::StorageImpl> make_storage(std::size_t nbytes, c10::DeviceIndex device);

// A storage that takes ownership of `data`, whose device is an npu.
c10::intrusive_ptr<c10::StorageImpl> make_storage(std::size_t nbytes, c10::DataPtr data);

// Throws unless the bytes are in one allocation of `device`: for memory from other libraries (DLPack), since kernels
// would read out of bounds.
void check_device_memory(const void* address, std::size_t nbytes, c10::DeviceIndex device);

// Resizes a storage and keeps the bytes that fit.
void resize_storage(c10::StorageImpl& storage, std::size_t nbytes);

}  // namespace torch_npu
