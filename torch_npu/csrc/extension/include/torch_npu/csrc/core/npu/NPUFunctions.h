#pragma once
// Devices: their number, the current one, waits.

#include <c10/core/Device.h>

#include <cstdint>

#include "torch_npu/csrc/core/npu/NPUException.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace c10_npu {

// 0 if the runtime fails.
C10_NPU_API c10::DeviceIndex device_count() noexcept;
// Throws instead of returning 0.
C10_NPU_API c10::DeviceIndex device_count_ensure_non_zero();

// This thread's current device. Setting one that does not exist throws.
C10_NPU_API c10::DeviceIndex current_device();
C10_NPU_API void set_device(c10::DeviceIndex device);
// Sets it and returns the one before; a negative device changes nothing.
C10_NPU_API int ExchangeDevice(int device);
C10_NPU_API int MaybeExchangeDevice(int device);

// The same with the runtime's codes instead of exceptions.
C10_NPU_API aclError GetDevice(int32_t* device);
C10_NPU_API aclError SetDevice(c10::DeviceIndex device);
C10_NPU_API aclError MaybeSetDevice(c10::DeviceIndex device);

// Waits for all work of the current device, and for one stream; throws what failed.
C10_NPU_API void device_synchronize();
C10_NPU_API void stream_synchronize(aclrtStream stream);
// To be called by an operator before it makes the host wait: torch.npu.set_sync_debug_mode.
C10_NPU_API void warn_or_error_on_sync();

// Whether this process uses the device already.
C10_NPU_API bool hasPrimaryContext(c10::DeviceIndex device);

}  // namespace c10_npu
