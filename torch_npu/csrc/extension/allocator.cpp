#include <c10/core/StreamGuard.h>

#include "core/allocator/caching_allocator.h"
#include "core/device.h"
#include "core/special_streams.h"
#include "torch_npu/csrc/core/npu/NPUCachingAllocator.h"

namespace c10_npu::NPUCachingAllocator {

void* raw_alloc(std::size_t nbytes) {
  return torch_npu::caching_allocator().allocate_raw(torch_npu::current_device(), nbytes);
}

void* raw_alloc_with_stream(std::size_t nbytes, aclrtStream stream) {
  const c10::StreamGuard guard(torch_npu::external_stream(torch_npu::current_device(), stream));
  return raw_alloc(nbytes);
}

void raw_delete(void* address) { torch_npu::CachingAllocator::release(address); }

c10::DeviceAllocator* get() { return &torch_npu::caching_allocator(); }

void recordStream(const c10::DataPtr& ptr, NPUStream stream) {
  torch_npu::caching_allocator().recordStream(ptr, stream.unwrap());
}

void emptyCache(bool) { torch_npu::caching_allocator().emptyCache(); }

double getMemoryFraction(int device) {
  return torch_npu::caching_allocator().memory_fraction(
      torch_npu::checked_device(static_cast<c10::DeviceIndex>(device)));
}
void setMemoryFraction(double fraction, int device) {
  torch_npu::caching_allocator().set_memory_fraction(torch_npu::checked_device(static_cast<c10::DeviceIndex>(device)),
                                                     fraction);
}

DeviceStats getDeviceStats(c10::DeviceIndex device) { return torch_npu::caching_allocator().getDeviceStats(device); }
void resetAccumulatedStats(c10::DeviceIndex device) { torch_npu::caching_allocator().resetAccumulatedStats(device); }
void resetPeakStats(c10::DeviceIndex device) { torch_npu::caching_allocator().resetPeakStats(device); }
std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex device) {
  return torch_npu::caching_allocator().getMemoryInfo(device);
}

std::string name() { return "native"; }

}  // namespace c10_npu::NPUCachingAllocator
