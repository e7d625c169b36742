#include "core/storage.h"

#include <algorithm>
#include <typeinfo>

#include "core/acl.h"
#include "core/allocator/caching_allocator.h"
#include "core/device.h"
#include "core/format.h"
#include "core/stream.h"
#include "core/trace.h"

namespace torch_npu {
namespace {

c10::intrusive_ptr<c10::StorageImpl> create(c10::StorageImpl::use_byte_size_t, c10::SymInt nbytes, c10::DataPtr data,
                                            c10::Allocator* allocator, bool resizable) {
  if (data == nullptr) {
    data = allocator->allocate(nbytes.expect_int());
  } else {
    check_device_memory(data.get(), static_cast<std::size_t>(nbytes.expect_int()), data.device().index());
  }
  return c10::make_intrusive<StorageImpl>(c10::StorageImpl::use_byte_size_t(), std::move(nbytes), std::move(data),
                                          allocator, resizable);
}

// For PyTorch's call sites that create storages through c10 (torch.UntypedStorage, deserialization).
[[maybe_unused]] const bool factory_registered = [] {
  c10::SetStorageImplCreate(c10::DeviceType::PrivateUse1, &create);
  return true;
}();

}  // namespace

void check_device_memory(const void* address, std::size_t nbytes, c10::DeviceIndex device) {
  if (!is_host_addressable() || address == nullptr || nbytes == 0) return;
  TORCH_CHECK(device_of_address(address) == device, "the storage at ", address, " is not in the memory of ",
              npu_device(device), ": make npu tensors from CPU tensors by .to(\"npu\"), not over their addresses",
              error_tail("ERR00004", "PTA invalid pointer"));
  using KernelAddressFn = aclError (*)(const void*, std::size_t, void**);
  static const auto find = reinterpret_cast<KernelAddressFn>(bound_symbol("softnpuKernelAddress"));
  void* kernel = nullptr;
  acl_check(find(address, nbytes, &kernel), "softnpuKernelAddress");
}

StorageImpl* own_storage(const c10::StorageImpl& storage) {
  // The class is final, so comparing types suffices.
  return typeid(storage) == typeid(StorageImpl) ? static_cast<StorageImpl*>(const_cast<c10::StorageImpl*>(&storage))
                                                : nullptr;
}

std::atomic<int64_t> StorageImpl::count_private_storage_{0};

StorageImpl::~StorageImpl() { set_private_layout_active(false); }

void StorageImpl::set_private_layout_active(bool on) {
  if (has_private_layout_.exchange(on, std::memory_order_acq_rel) != on) count_private_storage_ += on ? 1 : -1;
}

void StorageImpl::release_resources() {
  set_private_layout_active(false);
  cpu_storage_.reset();
  c10::StorageImpl::release_resources();
}

c10::intrusive_ptr<c10::StorageImpl> make_storage(std::size_t nbytes, c10::DeviceIndex device) {
  return make_storage(nbytes, caching_allocator().allocate_on(device, nbytes));
}

c10::intrusive_ptr<c10::StorageImpl> make_storage(std::size_t nbytes, c10::DataPtr data) {
  return c10::make_intrusive<StorageImpl>(c10::StorageImpl::use_byte_size_t(),
                                          c10::SymInt(static_cast<int64_t>(nbytes)), std::move(data),
                                          &caching_allocator(), true);
}

void resize_storage(c10::StorageImpl& storage, std::size_t nbytes) {
  TORCH_CHECK(storage.resizable(), "Trying to resize storage that is not resizable");
  forget_format(storage);
  c10::DeviceIndex device = storage.device().index();
  c10::DataPtr grown = caching_allocator().allocate_on(device, nbytes);
  std::size_t kept = std::min(nbytes, storage.nbytes());
  if (kept > 0 && bytes_of(storage, BytesLayout::kPlain) != nullptr) {
    const c10::Stream stream = current_stream(device);
    trace::Launch launch("Memcpy DtoD", trace::Kind::kCopy, stream);
    acl_check(aclrtMemcpyAsync(grown.get(), nbytes, bytes_of(storage, BytesLayout::kPlain), kept,
                               ACL_MEMCPY_DEVICE_TO_DEVICE, Enqueue(stream).handle()),
              "aclrtMemcpyAsync");
  }
  if (StorageImpl* own = own_storage(storage); own != nullptr) own->cpu_storage().reset();
  storage.set_data_ptr_noswap(std::move(grown));
  storage.set_nbytes(nbytes);
}

}  // namespace torch_npu
