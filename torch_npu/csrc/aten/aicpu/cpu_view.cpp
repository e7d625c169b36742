#include "aten/aicpu/cpu_view.h"

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <c10/core/DeviceGuard.h>

#include "aten/aicpu/copied.h"
#include "aten/aicpu/dense.h"
#include "aten/aicpu/derived.h"
#include "core/device.h"

namespace torch_npu::aicpu {
namespace {

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

at::Tensor CpuViews::to_cpu(const at::Tensor& tensor, bool may_write) {
  if (!tensor.defined() || !tensor.is_privateuseone()) return tensor;
  at::Tensor cpu = tensor.is_sparse()                            ? sparse_to_cpu(tensor, may_write)
                   : is_compressed(tensor)                       ? compressed_to_cpu(tensor, may_write)
                   : tensor.is_nested() || tensor.is_quantized() ? derived_to_cpu(tensor)
                                                                 : dense_to_cpu(tensor);
  // A few kernels check whether a gradient will be required, and save values for it.
  if (tensor.requires_grad()) cpu.unsafeGetTensorImpl()->set_requires_grad(true);
  arguments_.push_back({tensor, cpu, may_write});
  return cpu;
}

at::Storage CpuViews::to_cpu(const at::Storage& storage) {
  if (!storage || storage.device_type() != c10::DeviceType::PrivateUse1) return storage;
  if (storage.device().index() != device_) throw_mixed_devices(npu_device(device_), storage.device());
  return cpu_storage(storage, 0, storage.nbytes());
}

// If bytes are copied, copies those from `begin` to `end`.
c10::Storage CpuViews::cpu_storage(const c10::Storage& npu, std::size_t begin, std::size_t end) {
  if (bytes_ == Bytes::kShared) {
    c10::Storage cpu_storage(cpu_storage_of(npu, device_));
    remember(cpu_storage.unsafeGetStorageImpl(), npu);
    return cpu_storage;
  }
  c10::Storage copy;
  for (const auto& [storage, known] : copies_) {
    if (known.unsafeGetStorageImpl() == npu.unsafeGetStorageImpl()) copy = storage;
  }
  if (!copy) {
    copy = host_storage_like(npu, device_);
    copies_.emplace_back(copy, npu);
    remember(copy.unsafeGetStorageImpl(), npu);
  }
  copy_bytes_to_host(npu, copy, begin, end);
  return copy;
}

at::Tensor CpuViews::dense_to_cpu(const at::Tensor& tensor) {
  check_device(tensor);
  if (bytes_ == Bytes::kCopied) {
    const auto [begin, end] = extent_of(tensor);
    return dense_like(cpu_storage(tensor.storage(), begin, end), c10::DispatchKey::CPU, *tensor.unsafeGetTensorImpl());
  }
  at::Tensor cpu = dense_cpu_view(tensor, device_, tensor.requires_grad());
  remember(cpu.storage().unsafeGetStorageImpl(), tensor.storage());
  return cpu;
}

void CpuViews::check_device(const at::Tensor& tensor) const {
  if (!tensor.has_storage() || tensor.device().index() != device_) {
    throw_mixed_devices(npu_device(device_), tensor.device());
  }
}

void CpuViews::remember(const c10::StorageImpl* cpu_storage, const c10::Storage& npu) {
  for (const auto& [storage, known] : storages_) {
    if (storage == cpu_storage) return;
  }
  storages_.emplace_back(cpu_storage, npu);
}

at::Tensor CpuViews::derived_to_cpu(const at::Tensor& tensor) {
  check_device(tensor);
  c10::Storage storage = cpu_storage(tensor.storage(), 0, tensor.storage().nbytes());
  return tensor.is_nested() ? nested_like(std::move(storage), c10::DispatchKey::NestedTensorCPU, tensor)
                            : quantized_like(std::move(storage), c10::DispatchKey::QuantizedCPU, tensor);
}

at::Tensor CpuViews::sparse_to_cpu(const at::Tensor& tensor, bool may_write) {
  auto& impl = sparse_impl(tensor);
  return make_sparse(c10::DispatchKey::SparseCPU, impl, to_cpu(impl.indices(), may_write),
                     to_cpu(impl.values(), may_write));
}

at::Tensor CpuViews::compressed_to_cpu(const at::Tensor& tensor, bool may_write) {
  auto& impl = compressed_impl(tensor);
  return make_compressed(c10::DispatchKey::SparseCsrCPU, c10::kCPU, impl, to_cpu(impl.compressed_indices(), may_write),
                         to_cpu(impl.plain_indices(), may_write), to_cpu(impl.values(), may_write));
}

c10::Storage CpuViews::adopt(const c10::Storage& cpu) {
  for (const auto& [known, npu] : storages_) {
    if (known == cpu.unsafeGetStorageImpl()) return npu;
  }
  const bool is_copied = bytes_ == Bytes::kCopied;
  storages_.emplace_back(cpu.unsafeGetStorageImpl(),
                         is_copied ? device_storage_of(cpu, device_) : adopt_storage(cpu, device_));
  return storages_.back().second;
}

at::Tensor CpuViews::to_npu(const at::Tensor& result) {
  if (!result.defined() || result.device().type() != c10::DeviceType::CPU) return result;
  for (const Pair& pair : arguments_) {
    if (pair.cpu.is_same(result)) return pair.npu;
  }
  c10::Device npu(c10::DeviceType::PrivateUse1, device_);
  if (result.is_sparse()) {
    auto& impl = sparse_impl(result);
    c10::DeviceGuard current(npu);  // a sparse tensor is created on the current device
    return make_sparse(c10::DispatchKey::SparsePrivateUse1, impl, to_npu(impl.indices()), to_npu(impl.values()));
  }
  if (is_compressed(result)) {
    auto& impl = compressed_impl(result);
    return make_compressed(c10::DispatchKey::SparseCsrPrivateUse1, npu, impl, to_npu(impl.compressed_indices()),
                           to_npu(impl.plain_indices()), to_npu(impl.values()));
  }
  if (result.is_nested()) {
    return nested_like(adopt(result.storage()), c10::DispatchKey::NestedTensorPrivateUse1, result);
  }
  if (result.is_quantized()) {
    return quantized_like(adopt(result.storage()), c10::DispatchKey::QuantizedPrivateUse1, result);
  }
  return dense_like(adopt(result.storage()), c10::DispatchKey::PrivateUse1, *result.unsafeGetTensorImpl());
}

// Copies bytes that a kernel may have written back to the device.
void CpuViews::sync_bytes(const Pair& pair) {
  if (!pair.may_write) return;
  if (pair.npu.is_nested()) {
    copy_bytes_to_device(pair.cpu.storage(), pair.npu.storage(), 0, pair.npu.storage().nbytes());
  } else {
    sync_copied(pair.npu, pair.cpu, adopt(pair.cpu.storage()));
  }
}

void CpuViews::sync_arguments() {
  // Parts of a sparse tensor precede it in arguments_, and to_npu() below must not add to arguments_.
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
    } else if (bytes_ == Bytes::kCopied) {
      sync_bytes(pair);
    } else if (!pair.npu.is_nested()) {
      sync_dense(pair.npu, pair.cpu, adopt(pair.cpu.storage()), device_);
    }
  }
}

}  // namespace torch_npu::aicpu
