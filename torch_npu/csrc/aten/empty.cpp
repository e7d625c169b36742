// Creates tensors, on a storage class that also stores this device's own state.

#include <ATen/EmptyTensor.h>
#include <ATen/native/TensorFactories.h>
#include <torch/library.h>

#include "aten/empty.h"
#include "core/device.h"
#include "core/storage.h"

namespace torch_npu {
namespace {

at::Tensor& fill_if_deterministic(at::Tensor& tensor) {
  if (C10_UNLIKELY(fills_uninitialized())) at::native::fill_empty_deterministic_(tensor);
  return tensor;
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                 std::optional<at::Device> device, std::optional<bool> pin_memory,
                 std::optional<at::MemoryFormat> memory_format) {
  at::detail::check_size_nonnegative(size);
  at::Tensor tensor = make_tensor(size, c10::dtype_or_default(dtype), factory_device(layout, device, pin_memory));
  auto format = memory_format.value_or(at::MemoryFormat::Contiguous);
  TORCH_CHECK(format != at::MemoryFormat::Preserve, "memory format preserve needs a tensor to preserve it from");
  if (format != at::MemoryFormat::Contiguous) tensor.unsafeGetTensorImpl()->empty_tensor_restride(format);
  return fill_if_deterministic(tensor);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout> layout, std::optional<at::Device> device,
                         std::optional<bool> pin_memory) {
  at::detail::check_size_nonnegative(size);
  at::Tensor tensor =
      make_strided_tensor(size, stride, c10::dtype_or_default(dtype), factory_device(layout, device, pin_memory));
  return fill_if_deterministic(tensor);
}

// PyTorch's text: its allocations for CPU and CUDA warn in the same way.
void warn_of_complex_half() {
  TORCH_WARN_ONCE("ComplexHalf support is experimental and many operators don't support it yet.");
}

at::Tensor efficientzerotensor(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                               std::optional<at::Device> device, std::optional<bool>) {
  c10::DeviceIndex index = device.has_value() && device->has_index() ? device->index() : current_device();
  at::native::ZeroTensorAllocator allocator(at::Device(at::DeviceType::PrivateUse1, index));
  c10::DispatchKeySet keys({c10::DispatchKey::PrivateUse1, c10::DispatchKey::ZeroTensor});
  return at::detail::empty_generic(size, &allocator, keys, c10::dtype_or_default(dtype), std::nullopt);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_efficientzerotensor", &efficientzerotensor);
}

}  // namespace

c10::DeviceIndex factory_device(std::optional<at::Layout> layout, std::optional<at::Device> device,
                                std::optional<bool> pin_memory) {
  TORCH_CHECK(!layout.has_value() || *layout == at::kStrided, "only strided tensors are made by empty, not ", *layout);
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
  return device.has_value() && device->has_index() ? device->index() : current_device();
}

bool fills_uninitialized() {
  return at::globalContext().deterministicAlgorithms() && at::globalContext().deterministicFillUninitializedMemory();
}

at::Tensor make_tensor_on(c10::Storage storage, at::ScalarType dtype) {
  if (C10_UNLIKELY(dtype == at::kComplexHalf)) warn_of_complex_half();
  return at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::scalarTypeToTypeMeta(dtype));
}

at::Tensor make_strided_tensor(at::IntArrayRef size, at::IntArrayRef stride, at::ScalarType dtype,
                               c10::DeviceIndex device) {
  std::size_t nbytes = at::detail::computeStorageNbytes(size, stride, c10::elementSize(dtype));
  at::Tensor tensor = make_tensor_on(make_storage(nbytes, device), dtype);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride);
  return tensor;
}

at::Tensor make_tensor(at::IntArrayRef size, at::ScalarType dtype, c10::DeviceIndex device) {
  std::size_t nbytes = at::detail::computeStorageNbytesContiguous(size, c10::elementSize(dtype));
  at::Tensor tensor = make_tensor_on(make_storage(nbytes, device), dtype);
  if (size.size() != 1 || size[0] != 0) tensor.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  return tensor;
}

}  // namespace torch_npu
