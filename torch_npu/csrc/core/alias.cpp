#include "core/alias.h"

#include <c10/core/Storage.h>

#include <cstddef>
#include <memory>

#include "core/format.h"
#include "core/storage.h"

namespace torch_npu {
namespace {

// An address in a storage, as memory of another one: keeps the first storage alive.
c10::DataPtr part_of(const c10::Storage& owner, std::ptrdiff_t offset) {
  c10::StorageImpl& storage = *owner.unsafeGetStorageImpl();
  auto* address = static_cast<std::byte*>(mutable_bytes_of(storage, BytesLayout::kPlain)) + offset;
  auto kept = std::make_unique<c10::Storage>(owner);
  return {address, kept.release(),
          [](void* context) { std::unique_ptr<c10::Storage>(static_cast<c10::Storage*>(context)); }, owner.device()};
}

}  // namespace

void change_data_ptr(const at::Tensor& dst, const at::Tensor& src, int64_t index) {
  TORCH_CHECK(dst.is_privateuseone() && src.is_privateuseone() && dst.device() == src.device(),
              "npu_change_data_ptr needs two tensors of one npu, not of ", dst.device(), " and ", src.device());
  TORCH_CHECK_TYPE(dst.scalar_type() == src.scalar_type(), "npu_change_data_ptr needs tensors of one dtype, not ",
                   dst.scalar_type(), " and ", src.scalar_type());
  c10::StorageImpl& storage = *dst.storage().unsafeGetStorageImpl();
  TORCH_CHECK(!dst.storage().is_alias_of(src.storage()), "npu_change_data_ptr: both tensors have the same storage");
  const auto itemsize = static_cast<int64_t>(src.itemsize());
  const auto size = static_cast<int64_t>(src.storage().nbytes());
  // In elements, so that a large index does not overflow.
  const int64_t room = size / itemsize - src.storage_offset() - static_cast<int64_t>(storage.nbytes()) / itemsize;
  TORCH_CHECK_INDEX(index >= 0 && index <= room, "npu_change_data_ptr: ", storage.nbytes(), " bytes from element ",
                    index, " on are not within the ", size, " bytes of the other tensor's storage");
  forget_format(storage);
  if (StorageImpl* own = own_storage(storage); own != nullptr) own->cpu_storage().reset();
  storage.set_data_ptr_noswap(part_of(src.storage(), (src.storage_offset() + index) * itemsize));
}

}  // namespace torch_npu
