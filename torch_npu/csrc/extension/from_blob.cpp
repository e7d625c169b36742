#include "torch_npu/csrc/aten/common/from_blob.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/TensorImpl.h>

#include <utility>

#include "core/device.h"
#include "core/storage.h"

namespace at_npu::native {
namespace {

using Deleter = std::function<void(void*)>;

struct Owner {
  void* data;
  Deleter deleter;
};

c10::DataPtr data_ptr(void* data, const Deleter& deleter, c10::Device device) {
  if (!deleter) return {data, device};
  auto owner = std::make_unique<Owner>(Owner{data, deleter});
  return {data, owner.release(),
          [](void* context) {
            const std::unique_ptr<Owner> owned(static_cast<Owner*>(context));
            owned->deleter(owned->data);
          },
          device};
}

// The device of the memory where that is known; else the one that is asked for.
c10::Device device_of(const void* data, std::optional<c10::Device> asked, const at::TensorOptions& options) {
  if (!asked.has_value()) asked = options.device_opt();
  c10::Device device = asked.value_or(torch_npu::npu_device(-1));
  TORCH_CHECK(device.is_privateuseone(), "from_blob of torch_npu makes npu tensors, not of ", device);
  const c10::DeviceIndex found = torch_npu::device_of_address(data);
  if (!device.has_index()) device.set_index(found >= 0 ? found : torch_npu::current_device());
  TORCH_CHECK(found < 0 || found == device.index(), "from_blob: the memory is npu:", static_cast<int>(found),
              "'s, but the tensor shall be on ", device);
  torch_npu::bind_device(device.index());
  return device;
}

at::Tensor make(void* data, at::IntArrayRef sizes, at::OptionalIntArrayRef strides, int64_t offset,
                const Deleter& deleter, const at::TensorOptions& options, std::optional<c10::Device> asked) {
  TORCH_CHECK(offset >= 0, "from_blob: the storage offset is ", offset);
  const c10::Device device = device_of(data, asked, options);
  const caffe2::TypeMeta dtype = options.dtype();
  const std::size_t nbytes = strides.has_value()
                                 ? at::detail::computeStorageNbytes(sizes, *strides, dtype.itemsize(), offset)
                                 : at::detail::computeStorageNbytesContiguous(sizes, dtype.itemsize(), offset);
  if (nbytes > 0) torch_npu::check_device_memory(data, nbytes, device.index());
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(torch_npu::make_storage(nbytes, data_ptr(data, deleter, device))),
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), dtype);
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (strides.has_value()) {
    impl->set_sizes_and_strides(sizes, *strides, offset);
  } else {
    impl->set_sizes_contiguous(sizes);
    impl->set_storage_offset(offset);
  }
  return options.requires_grad() ? tensor.requires_grad_() : tensor;
}

}  // namespace

at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t storage_offset,
                     const Deleter& deleter, const at::TensorOptions& options, std::optional<c10::Device> device) {
  return make(data, sizes, strides, storage_offset, deleter, options, device);
}
at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides, const Deleter& deleter,
                     const at::TensorOptions& options, std::optional<c10::Device> device) {
  return make(data, sizes, strides, 0, deleter, options, device);
}
at::Tensor from_blob(void* data, at::IntArrayRef sizes, Deleter deleter, const at::TensorOptions& options,
                     std::optional<c10::Device> device) {
  return make(data, sizes, std::nullopt, 0, deleter, options, device);
}
at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t storage_offset,
                     const at::TensorOptions& options, std::optional<c10::Device> device) {
  return make(data, sizes, strides, storage_offset, nullptr, options, device);
}
at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
  return make(data, sizes, strides, 0, nullptr, options, std::nullopt);
}
at::Tensor from_blob(void* data, at::IntArrayRef sizes, std::optional<c10::Device> device,
                     const at::TensorOptions& options) {
  return make(data, sizes, std::nullopt, 0, nullptr, options, device);
}
at::Tensor from_blob(void* data, at::IntArrayRef sizes, const at::TensorOptions& options) {
  return make(data, sizes, std::nullopt, 0, nullptr, options, std::nullopt);
}

}  // namespace at_npu::native
