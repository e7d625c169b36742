#pragma once

#include <ATen/core/Tensor.h>

namespace torch_npu {

// The device of a factory's result; throws for results that only the CPU supports.
c10::DeviceIndex factory_device(std::optional<at::Layout> layout, std::optional<at::Device> device,
                                std::optional<bool> pin_memory);

// A contiguous, uninitialised npu tensor.
at::Tensor make_tensor(at::IntArrayRef size, at::ScalarType dtype, c10::DeviceIndex device);

// An uninitialised npu tensor with these strides.
at::Tensor make_strided_tensor(at::IntArrayRef size, at::IntArrayRef stride, at::ScalarType dtype,
                               c10::DeviceIndex device);

// An empty npu tensor over `storage`; the caller sets its sizes.
at::Tensor make_tensor_on(c10::Storage storage, at::ScalarType dtype);

// Whether uninitialised memory must be filled: torch.use_deterministic_algorithms and its fill switch.
bool fills_uninitialized();

}  // namespace torch_npu
