#pragma once
// The storage of an npu tensor: PyTorch's, with room for what only this device knows.

#include <c10/core/ScalarType.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/SmallVector.h>

#include <atomic>
#include <memory>
#include <utility>

namespace torch_npu {

// A storage that whoever comes first puts in: threads that read one tensor at once find the same one.
class SharedStorage {
 public:
  SharedStorage() = default;
  SharedStorage(const SharedStorage&) = delete;
  SharedStorage& operator=(const SharedStorage&) = delete;
  ~SharedStorage() { reset(); }

  // Null before the first put().
  c10::StorageImpl* get() const { return held_.load(std::memory_order_acquire); }

  // Keeps `storage` where there is none yet; returns the one that is kept.
  c10::StorageImpl* put(c10::intrusive_ptr<c10::StorageImpl> storage) {
    c10::StorageImpl* held = nullptr;
    if (!held_.compare_exchange_strong(held, storage.get(), std::memory_order_acq_rel)) return held;
    return storage.release();
  }

  // Only where no other thread uses the tensor: when it is resized and when it goes.
  void reset() {
    // Dropped at the end of the statement.
    (void)c10::intrusive_ptr<c10::StorageImpl>::reclaim(held_.exchange(nullptr, std::memory_order_acq_rel));
  }

 private:
  std::atomic<c10::StorageImpl*> held_{nullptr};  // owned
};

// The tensor that a storage in a private format holds.
struct PrivateLayout {
  c10::SmallVector<int64_t, 5> sizes;
  c10::ScalarType dtype;
  c10::SmallVector<int64_t, 8> storage_shape;  // the sizes in memory
};

class StorageImpl final : public c10::StorageImpl {
 public:
  using c10::StorageImpl::StorageImpl;
  ~StorageImpl() override;

  // The same bytes as a CPU storage, made on first use and kept: what AI CPU kernels are given. It owns nothing.
  SharedStorage& cpu_storage() { return cpu_storage_; }

  // The aclFormat that the program gave it; kNoFormat where it gave none.
  static constexpr int kNoFormat = -1;
  int format() const { return format_.load(std::memory_order_acquire); }
  void set_format(int format) { format_.store(format, std::memory_order_release); }

  // Whether data() are blocks of a private format. nbytes() count the elements, not what fills blocks up.
  bool has_private_layout() const { return has_private_layout_.load(std::memory_order_acquire); }
  void set_private_layout_active(bool on);

  // Of the private format that it was made with, which it may have no more; null for other storages. Stays as long as
  // the storage.
  const PrivateLayout* private_layout() const { return private_layout_.get(); }
  void set_private_layout(std::unique_ptr<const PrivateLayout> blocks) { private_layout_ = std::move(blocks); }

  // All storages whose data() are blocks.
  static int64_t count_private_storage() { return count_private_storage_.load(std::memory_order_acquire); }

  void release_resources() override;

 private:
  SharedStorage cpu_storage_;
  std::atomic<int> format_{kNoFormat};
  std::atomic<bool> has_private_layout_{false};
  std::unique_ptr<const PrivateLayout> private_layout_;
  static std::atomic<int64_t> count_private_storage_;
};

// Our storage, or null for one that PyTorch made by other ways than ours.
StorageImpl* own_storage(const c10::StorageImpl& storage);

// A storage of `nbytes` on `device` from the caching allocator.
c10::intrusive_ptr<c10::StorageImpl> make_storage(std::size_t nbytes, c10::DeviceIndex device);

// A storage that takes over `data`, whose device is an npu.
c10::intrusive_ptr<c10::StorageImpl> make_storage(std::size_t nbytes, c10::DataPtr data);

// Throws where the bytes are not all in one allocation of `device`: for memory that others hand over (DLPack), since
// kernels would read whatever lies there.
void check_device_memory(const void* address, std::size_t nbytes, c10::DeviceIndex device);

// Grows or shrinks a storage and keeps the bytes that fit.
void resize_storage(c10::StorageImpl& storage, std::size_t nbytes);

}  // namespace torch_npu
