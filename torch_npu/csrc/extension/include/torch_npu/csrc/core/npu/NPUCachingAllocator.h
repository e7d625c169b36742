#pragma once
// The caching allocator of the device npu.

#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <cstddef>
#include <string>
#include <utility>

#include "torch_npu/csrc/core/npu/NPUGuard.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace c10_npu::NPUCachingAllocator {

using c10::CachingDeviceAllocator::DeviceStats;

// Memory of the current device for its current stream, or for a stream by its handle. raw_delete() frees it; work of
// another stream may use it if recordStream() was called before.
C10_NPU_API void* raw_alloc(std::size_t nbytes);
C10_NPU_API void* raw_alloc_with_stream(std::size_t nbytes, aclrtStream stream);
C10_NPU_API void raw_delete(void* address);

// The allocator as PyTorch sees it: allocate() gives the same memory as a DataPtr that frees it.
C10_NPU_API c10::DeviceAllocator* get();

// A block that `stream` uses is reused only after its work, once it is freed. `ptr` is a tensor's
// (tensor.storage().data_ptr()) or one of get()->allocate().
C10_NPU_API void recordStream(const c10::DataPtr& ptr, NPUStream stream);

// Returns unused memory to the device.
C10_NPU_API void emptyCache(bool check_error = true);

// The part of the device's memory, from 0 to 1, that this process may use.
C10_NPU_API double getMemoryFraction(int device);
C10_NPU_API void setMemoryFraction(double fraction, int device);

C10_NPU_API DeviceStats getDeviceStats(c10::DeviceIndex device);
C10_NPU_API void resetAccumulatedStats(c10::DeviceIndex device);
C10_NPU_API void resetPeakStats(c10::DeviceIndex device);
// Free and total bytes of the device.
C10_NPU_API std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex device);

C10_NPU_API std::string name();

}  // namespace c10_npu::NPUCachingAllocator
