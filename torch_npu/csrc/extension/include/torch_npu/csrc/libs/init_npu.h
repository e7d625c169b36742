#pragma once
// For programs in C++ without Python.

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

#include "torch_npu/csrc/core/npu/NPUMacros.h"

namespace torch_npu {

// Starts the runtime and makes the device current. A text is one like "npu:0". Throws for other devices.
TORCH_NPU_API void init_npu(c10::DeviceIndex index = 0);
TORCH_NPU_API void init_npu(const std::string& device);
TORCH_NPU_API void init_npu(const c10::Device& device);

// Waits for all work and returns memory and streams to the runtime; to be called when the program is done with it.
TORCH_NPU_API void finalize_npu();

}  // namespace torch_npu

namespace torch::npu {

// Waits for all work of a device; -1 is the current one.
TORCH_NPU_API void synchronize(int64_t device = -1);

}  // namespace torch::npu

namespace c10::npu {

TORCH_NPU_API c10::DeviceIndex current_device();

}  // namespace c10::npu
