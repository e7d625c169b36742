#include "aten/aicpu/dense.h"

#include <c10/core/AutogradState.h>
#include <c10/core/CPUAllocator.h>

#include <optional>
#include <typeinfo>

#include "aten/aicpu/allocator.h"
#include "core/acl.h"
#include "core/device.h"
#include "core/format.h"
#include "core/memory_events.h"
#include "core/storage.h"
#include "core/stream.h"

namespace torch_npu::aicpu {
namespace {

void* kernel_address(const c10::StorageImpl& storage, c10::DeviceIndex device) {
  auto* address = static_cast<char*>(const_cast<void*>(bytes_of(storage, BytesLayout::kStored)));
  return address == nullptr ? nullptr : address + kernel_offset(device);
}

c10::DispatchKeySet with_bits(c10::DispatchKey backend, const c10::TensorImpl& from) {
  c10::DispatchKeySet keys(backend);
  for (auto bit : {c10::DispatchKey::Conjugate, c10::DispatchKey::Negative}) {
    if (from.key_set().has(bit)) keys = keys.add(bit);
  }
  return keys;
}

// While it lives, new tensors have no version counter and no autograd keys: kernels need neither, and both are
// expensive.
class WithoutVersions {
 public:
  WithoutVersions() : previous_(c10::AutogradState::get_tls_state().get_inference_mode()) {
    c10::AutogradState::get_tls_state().set_inference_mode(true);
  }
  WithoutVersions(const WithoutVersions&) = delete;
  WithoutVersions& operator=(const WithoutVersions&) = delete;
  ~WithoutVersions() { c10::AutogradState::get_tls_state().set_inference_mode(previous_); }

 private:
  const bool previous_;
};

}  // namespace

c10::intrusive_ptr<c10::StorageImpl> cpu_storage_of(const c10::Storage& storage, c10::DeviceIndex device) {
  c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
  const void* bytes = bytes_of(*impl, BytesLayout::kPlain);
  void* address = kernel_address(*impl, device);
  bump_write_epoch(bytes, impl->nbytes());  // even if the kernel does not write it
  StorageImpl* own = own_storage(*impl);
  if (c10::StorageImpl* known = own == nullptr ? nullptr : own->cpu_storage().get()) {
    // Stale if PyTorch has replaced the storage's bytes; no other thread may use them meanwhile.
    if (C10_UNLIKELY(known->data() != address || known->nbytes() != impl->nbytes())) {
      known->set_data_ptr_noswap(c10::DataPtr(address, c10::kCPU));
      known->set_nbytes(impl->nbytes());
    }
    return c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(known);
  }
  if (own == nullptr) check_device_memory(bytes, impl->nbytes(), device);
  auto view = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), c10::SymInt(static_cast<int64_t>(impl->nbytes())),
      c10::DataPtr(address, c10::kCPU), c10::GetCPUAllocator(), impl->resizable());
  if (own == nullptr) return view;
  return c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(own->cpu_storage().put(std::move(view)));
}

at::Tensor dense_like(c10::Storage storage, c10::DispatchKey backend, const c10::TensorImpl& like) {
  auto impl = c10::make_intrusive<c10::TensorImpl>(std::move(storage), with_bits(backend, like), like.dtype());
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.is_wrapped_number()) impl->set_wrapped_number(true);
  return at::Tensor(std::move(impl));
}

at::Tensor dense_cpu_view(const at::Tensor& npu, c10::DeviceIndex device, bool with_autograd) {
  std::optional<WithoutVersions> scope;
  if (!with_autograd) scope.emplace();
  return dense_like(c10::Storage(cpu_storage_of(npu.storage(), device)), c10::DispatchKey::CPU,
                    *npu.unsafeGetTensorImpl());
}

c10::Storage adopt_storage(const c10::Storage& cpu, c10::DeviceIndex device) {
  c10::StorageImpl* impl = cpu.unsafeGetStorageImpl();
  c10::DataPtr data;
  if (take_over(impl->_mutable_data_ptr_no_checks(), device, &data)) {
    auto created = make_storage(impl->nbytes(), std::move(data));
    static_cast<StorageImpl*>(created.get())
        ->cpu_storage()
        .put(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(impl));
    return c10::Storage(std::move(created));
  }
  auto created = make_storage(impl->nbytes(), device);
  wait_for_current_stream(device);  // another thread's work may still use the block: see aicpu/allocator.cpp
  if (impl->nbytes() > 0 && cpu.data() != nullptr) {
    acl_check(aclrtMemcpy(mutable_bytes_of(*created, BytesLayout::kStored), created->nbytes(), cpu.data(),
                          impl->nbytes(), ACL_MEMCPY_HOST_TO_DEVICE),
              "aclrtMemcpy");
  }
  return c10::Storage(std::move(created));
}

at::Tensor adopt_dense(const at::Tensor& result, c10::DeviceIndex device) {
  c10::Storage storage = adopt_storage(result.storage(), device);
  // No other references and already in device memory: the tensor object itself changes its device.
  c10::TensorImpl* impl = result.unsafeGetTensorImpl();
  if (C10_LIKELY(result.use_count() == 1 && impl->key_set().has(c10::DispatchKey::CPU) &&
                 typeid(*impl) == typeid(c10::TensorImpl) && impl->allow_tensor_metadata_change())) {
    impl->set_storage_keep_dtype(std::move(storage));
    impl->_change_backend_component_keys(c10::Device(c10::DeviceType::PrivateUse1, device));
    return result;
  }
  return dense_like(std::move(storage), c10::DispatchKey::PrivateUse1, *impl);
}

void sync_metadata(const at::Tensor& npu, const at::Tensor& cpu_view, const c10::Storage& storage) {
  c10::TensorImpl* to = npu.unsafeGetTensorImpl();
  c10::TensorImpl* from = cpu_view.unsafeGetTensorImpl();
  if (storage.unsafeGetStorageImpl() != to->storage().unsafeGetStorageImpl()) to->set_storage_keep_dtype(storage);
  if (to->sizes() != from->sizes() || to->strides() != from->strides() ||
      to->storage_offset() != from->storage_offset()) {
    to->set_sizes_and_strides(from->sizes(), from->strides(), from->storage_offset());
  }
  if (C10_UNLIKELY(to->is_conj() != from->is_conj())) to->_set_conj(from->is_conj());  // for linalg_lu_solve.out
  if (C10_UNLIKELY(to->is_neg() != from->is_neg())) to->_set_neg(from->is_neg());
  if (to->dtype() != from->dtype()) to->set_storage_and_dtype(to->storage(), from->dtype());
}

void sync_dense(const at::Tensor& npu, const at::Tensor& cpu_view, const c10::Storage& storage,
                c10::DeviceIndex device) {
  c10::StorageImpl* bytes = storage.unsafeGetStorageImpl();
  c10::StorageImpl* cpu = cpu_view.storage().unsafeGetStorageImpl();
  if (cpu->data() != kernel_address(*bytes, device) || cpu->nbytes() != bytes->nbytes()) {
    c10::DataPtr data;
    if (take_over(cpu->_mutable_data_ptr_no_checks(), device, &data)) {
      bytes->set_data_ptr_noswap(std::move(data));
    } else if (cpu->nbytes() == 0) {
      bytes->set_data_ptr_noswap(c10::DataPtr(nullptr, bytes->device()));
    }
    bytes->set_nbytes(cpu->nbytes());
  }
  sync_metadata(npu, cpu_view, storage);
}

}  // namespace torch_npu::aicpu
