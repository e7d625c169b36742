#pragma once
// Formats of storages. A storage in a private format contains blocks until code that does not support blocks accesses
// its bytes: then they become plain, while the storage keeps the format. Casts convert them to blocks again.

#include <acl/acl_base.h>
#include <c10/core/Device.h>
#include <c10/util/ArrayRef.h>

#include <shared_mutex>

#include "core/aclnn_argument.h"
#include "core/storage.h"

namespace torch_npu {

// Throws for a number that is not a format.
aclFormat checked_format(int64_t format);

// Formats with plain bytes: they only name the dimensions.
bool is_base_format(aclFormat format);

// The format of a storage, or the default for the number of its tensor's dimensions.
aclFormat format_of(const c10::StorageImpl& storage, int64_t dims);

// Held from a call's check for blocked storages until its launch with their descriptors: meanwhile no layout changes.
class PrivateLayoutInUse {
 public:
  PrivateLayoutInUse();

 private:
  std::shared_lock<std::shared_mutex> lock_;
};

// Whether the storage contains blocks and the tensor covers all of them.
bool shows_all_blocks(const at::Tensor& tensor);

// The memory of a storage in a private layout.
DeviceElements elements_of_blocked_storage(const StorageImpl& storage);

// A storage for a contiguous tensor of these sizes in a private format, with undefined blocks. `block_dtype`, if
// defined, is the data type of FRACTAL_NZ's blocks. Throws if the sizes do not match the format.
c10::intrusive_ptr<StorageImpl> make_blocked_storage(c10::IntArrayRef sizes, c10::ScalarType dtype, aclFormat format,
                                                     aclDataType block_dtype, c10::DeviceIndex device);

// A new storage with the same blocks, copied on the current stream.
c10::intrusive_ptr<StorageImpl> copy_blocks(const StorageImpl& storage);

// Fills the blocks of such a storage from plain elements, on the current stream.
void fill_blocks(StorageImpl& storage, void* plain);

// Converts the bytes of a storage in a private format to blocks, if they have become plain. It writes them: no other
// thread may read them meanwhile.
void make_blocked(StorageImpl& storage);

// Makes the bytes plain permanently: the storage is resized, or shared with other processes.
void forget_format(const c10::StorageImpl& storage);

namespace detail {
void unpack_blocks(const c10::StorageImpl& storage);
}

// Ensures plain bytes, for code that does not support blocks. Costs one load while no storage contains blocks.
inline void make_plain(const c10::StorageImpl& storage) {
  if (C10_UNLIKELY(StorageImpl::count_private_storage() != 0)) detail::unpack_blocks(storage);
}

// The layout in which a caller reads or writes a storage's bytes.
enum class BytesLayout {
  kPlain,   // elements by strides: blocks of a private format are converted first
  kStored,  // as stored, possibly blocks: for callers that handle them, or that need only the address
};

// The first byte of an npu storage, for reading. `./dev lint` refuses other accesses in the plug-in.
inline const void* bytes_of(const c10::StorageImpl& storage, BytesLayout layout) {
  if (layout == BytesLayout::kPlain) make_plain(storage);
  return storage.data();
}

// The same for writing: bytes that a lazy clone shares are copied first.
inline void* mutable_bytes_of(c10::StorageImpl& storage, BytesLayout layout) {
  if (layout == BytesLayout::kPlain) make_plain(storage);
  return storage.mutable_data();
}

// Before a kernel writes the tensor: bytes that it shares with a lazy clone are copied. No other call does it, since
// kernels take addresses of what they read and of what they write alike.
inline void materialize(const at::Tensor& tensor) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (impl->has_storage()) impl->unsafe_storage().unsafeGetStorageImpl()->mutable_data();
}

// The first element of an npu or CPU tensor, whose storage becomes plain: for reading, and for writing.
inline const void* plain_data(const at::Tensor& tensor) {
  make_plain(*tensor.storage().unsafeGetStorageImpl());
  return tensor.const_data_ptr();
}
inline void* mutable_plain_data(const at::Tensor& tensor) {
  make_plain(*tensor.storage().unsafeGetStorageImpl());
  return tensor.mutable_data_ptr();
}

}  // namespace torch_npu
