#include "aten/aicpu/alias.h"

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <c10/core/CPUAllocator.h>

#include "aten/aicpu/allocator.h"
#include "core/acl.h"
#include "core/device.h"
#include "core/storage.h"

namespace torch_npu::aicpu {
namespace {

c10::Device cpu_device() { return {c10::DeviceType::CPU}; }

void* kernel_address(const c10::StorageImpl& storage, c10::DeviceIndex device) {
  auto* address = static_cast<char*>(const_cast<void*>(storage.data()));
  return address == nullptr ? nullptr : address + kernel_offset(device);
}

// The CPU storage over the same bytes. It is resizable where the npu storage is, into the device's memory.
c10::intrusive_ptr<c10::StorageImpl> twin_of(const c10::Storage& storage, c10::DeviceIndex device) {
  c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
  void* address = kernel_address(*impl, device);
  auto* own = dynamic_cast<StorageImpl*>(impl);
  if (own != nullptr && own->cpu_twin()) {
    auto& twin = own->cpu_twin();
    if (twin->data() != address || twin->nbytes() != impl->nbytes()) {
      twin->set_data_ptr_noswap(c10::DataPtr(address, cpu_device()));
      twin->set_nbytes(impl->nbytes());
    }
    return twin;
  }
  auto twin = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), c10::SymInt(static_cast<int64_t>(impl->nbytes())),
      c10::DataPtr(address, cpu_device()), c10::GetCPUAllocator(), impl->resizable());
  if (own != nullptr) own->cpu_twin() = twin;
  return twin;
}

c10::DispatchKeySet with_bits(c10::DispatchKey backend, const c10::TensorImpl& from) {
  c10::DispatchKeySet keys(backend);
  for (auto bit : {c10::DispatchKey::Conjugate, c10::DispatchKey::Negative}) {
    if (from.key_set().has(bit)) keys = keys.add(bit);
  }
  return keys;
}

at::Tensor make_dense(c10::Storage storage, c10::DispatchKey backend, const c10::TensorImpl& like) {
  auto impl = c10::make_intrusive<c10::TensorImpl>(std::move(storage), with_bits(backend, like), like.dtype());
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.is_wrapped_number()) impl->set_wrapped_number(true);
  return at::Tensor(std::move(impl));
}

at::Tensor make_sparse(c10::DispatchKey backend, const at::SparseTensorImpl& like, const at::Tensor& indices,
                       const at::Tensor& values) {
  auto impl = c10::make_intrusive<at::SparseTensorImpl>(c10::DispatchKeySet(backend), like.dtype());
  impl->raw_resize_(like.sparse_dim(), like.dense_dim(), like.sizes());
  impl->set_indices_and_values_unsafe(indices, values);
  impl->set_coalesced(like.coalesced());
  return at::Tensor(std::move(impl));
}

at::Tensor make_compressed(c10::DispatchKey backend, c10::Device device, const at::SparseCsrTensorImpl& like,
                           const at::Tensor& compressed, const at::Tensor& plain, const at::Tensor& values) {
  auto impl =
      c10::make_intrusive<at::SparseCsrTensorImpl>(c10::DispatchKeySet(backend), device, like.layout(), like.dtype());
  impl->resize_(values.numel() == 0 && plain.numel() == 0 ? 0 : plain.size(-1), like.sizes());
  impl->set_member_tensors(compressed, plain, values, c10::fromIntArrayRefSlow(like.sizes()));
  return at::Tensor(std::move(impl));
}

at::SparseTensorImpl& sparse_impl(const at::Tensor& t) {
  return *static_cast<at::SparseTensorImpl*>(t.unsafeGetTensorImpl());
}
at::SparseCsrTensorImpl& compressed_impl(const at::Tensor& t) {
  return *static_cast<at::SparseCsrTensorImpl*>(t.unsafeGetTensorImpl());
}

bool is_compressed(const at::Tensor& t) {
  switch (t.layout()) {
    case at::kSparseCsr:
    case at::kSparseCsc:
    case at::kSparseBsr:
    case at::kSparseBsc: return true;
    default: return false;
  }
}

}  // namespace

at::Tensor Aliases::to_cpu(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_privateuseone()) return tensor;
  at::Tensor cpu = tensor.is_sparse()      ? sparse_to_cpu(tensor)
                   : is_compressed(tensor) ? compressed_to_cpu(tensor)
                                           : dense_to_cpu(tensor);
  arguments_.push_back({tensor, cpu});
  return cpu;
}

at::Tensor Aliases::dense_to_cpu(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.has_storage() && tensor.device().index() == device_,
              "Expected all tensors to be on the same device, but found at least two devices, npu:",
              static_cast<int>(device_), " and ", tensor.device(), "!");
  auto twin = twin_of(tensor.storage(), device_);
  bool known = false;
  for (const auto& [cpu, npu] : storages_) known = known || cpu == twin.get();
  if (!known) storages_.emplace_back(twin.get(), tensor.storage());
  return make_dense(c10::Storage(std::move(twin)), c10::DispatchKey::CPU, *tensor.unsafeGetTensorImpl());
}

at::Tensor Aliases::sparse_to_cpu(const at::Tensor& tensor) {
  auto& impl = sparse_impl(tensor);
  return make_sparse(c10::DispatchKey::SparseCPU, impl, to_cpu(impl.indices()), to_cpu(impl.values()));
}

at::Tensor Aliases::compressed_to_cpu(const at::Tensor& tensor) {
  auto& impl = compressed_impl(tensor);
  return make_compressed(c10::DispatchKey::SparseCsrCPU, cpu_device(), impl, to_cpu(impl.compressed_indices()),
                         to_cpu(impl.plain_indices()), to_cpu(impl.values()));
}

c10::Storage Aliases::adopt(const c10::Storage& cpu) {
  for (const auto& [known, npu] : storages_) {
    if (known == cpu.unsafeGetStorageImpl()) return npu;
  }
  c10::StorageImpl* impl = cpu.unsafeGetStorageImpl();
  c10::DataPtr data;
  c10::intrusive_ptr<c10::StorageImpl> made;
  if (take_over(impl->_mutable_data_ptr_no_checks(), device_, &data)) {
    made = make_storage(impl->nbytes(), std::move(data));
    static_cast<StorageImpl*>(made.get())->cpu_twin() = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(impl);
  } else {
    made = make_storage(impl->nbytes(), device_);
    if (impl->nbytes() > 0 && impl->data() != nullptr) {
      acl_check(
          aclrtMemcpy(made->mutable_data(), made->nbytes(), impl->data(), impl->nbytes(), ACL_MEMCPY_HOST_TO_DEVICE),
          "aclrtMemcpy");
    }
  }
  storages_.emplace_back(impl, c10::Storage(std::move(made)));
  return storages_.back().second;
}

at::Tensor Aliases::to_npu(const at::Tensor& result) {
  if (!result.defined() || result.device().type() != c10::DeviceType::CPU) return result;
  for (const Pair& pair : arguments_) {
    if (pair.cpu.is_same(result)) return pair.npu;
  }
  c10::Device npu(c10::DeviceType::PrivateUse1, device_);
  if (result.is_sparse()) {
    auto& impl = sparse_impl(result);
    return make_sparse(c10::DispatchKey::SparsePrivateUse1, impl, to_npu(impl.indices()), to_npu(impl.values()));
  }
  if (is_compressed(result)) {
    auto& impl = compressed_impl(result);
    return make_compressed(c10::DispatchKey::SparseCsrPrivateUse1, npu, impl, to_npu(impl.compressed_indices()),
                           to_npu(impl.plain_indices()), to_npu(impl.values()));
  }
  return make_dense(adopt(result.storage()), c10::DispatchKey::PrivateUse1, *result.unsafeGetTensorImpl());
}

void Aliases::sync_arguments() {
  // Parts of sparse tensors stand before their tensor; to_npu() below may add nothing to arguments_.
  for (const Pair& pair : arguments_) {
    if (pair.npu.is_sparse()) {
      auto& from = sparse_impl(pair.cpu);
      auto& to = sparse_impl(pair.npu);
      at::Tensor indices = to_npu(from.indices());
      at::Tensor values = to_npu(from.values());
      if (to.indices().is_same(indices) && to.values().is_same(values) && to.sizes() == from.sizes() &&
          to.coalesced() == from.coalesced()) {
        continue;
      }
      to.raw_resize_(from.sparse_dim(), from.dense_dim(), from.sizes());
      to.set_indices_and_values_unsafe(indices, values);
      to.set_coalesced(from.coalesced());
    } else if (is_compressed(pair.npu)) {
      auto& from = compressed_impl(pair.cpu);
      compressed_impl(pair.npu).set_member_tensors(to_npu(from.compressed_indices()), to_npu(from.plain_indices()),
                                                   to_npu(from.values()), c10::fromIntArrayRefSlow(from.sizes()));
    } else {
      sync_dense(pair);
    }
  }
}

void Aliases::sync_dense(const Pair& pair) {
  c10::TensorImpl* to = pair.npu.unsafeGetTensorImpl();
  c10::TensorImpl* from = pair.cpu.unsafeGetTensorImpl();
  c10::Storage storage = adopt(from->storage());
  if (storage.unsafeGetStorageImpl() != to->storage().unsafeGetStorageImpl()) to->set_storage_keep_dtype(storage);
  c10::StorageImpl* npu = storage.unsafeGetStorageImpl();
  c10::StorageImpl* cpu = from->storage().unsafeGetStorageImpl();
  if (cpu->data() != kernel_address(*npu, device_) || cpu->nbytes() != npu->nbytes()) {
    c10::DataPtr data;
    if (take_over(cpu->_mutable_data_ptr_no_checks(), device_, &data)) {
      npu->set_data_ptr_noswap(std::move(data));
    } else if (cpu->nbytes() == 0) {
      npu->set_data_ptr_noswap(c10::DataPtr(nullptr, npu->device()));
    }
    npu->set_nbytes(cpu->nbytes());
  }
  if (to->sizes() != from->sizes() || to->strides() != from->strides() ||
      to->storage_offset() != from->storage_offset()) {
    to->set_sizes_and_strides(from->sizes(), from->strides(), from->storage_offset());
  }
  if (to->dtype() != from->dtype()) to->set_storage_and_dtype(to->storage(), from->dtype());
}

at::Tensor cpu_view(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_privateuseone()) return tensor;
  return Aliases(tensor.device().index()).to_cpu(tensor);
}

}  // namespace torch_npu::aicpu
