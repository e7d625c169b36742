#include "core/allocator/caching_allocator.h"

#include <array>
#include <memory>
#include <mutex>

#include "core/acl.h"
#include "core/allocator/device_cache.h"
#include "core/allocator/plugged.h"
#include "core/device.h"
#include "core/stream.h"
#include "core/trace.h"

namespace torch_npu {
namespace {

DeviceCache& cache(c10::DeviceIndex device) {
  // Never destroyed: used until the end of the process.
  static auto& caches = *[] {
    auto result = std::make_unique<std::array<std::unique_ptr<DeviceCache>, kMaxDevices>>();
    for (c10::DeviceIndex i = 0; i < kMaxDevices; ++i)
      result->at(static_cast<std::size_t>(i)) = std::make_unique<DeviceCache>(i);
    return result.release();
  }();
  return *caches[static_cast<std::size_t>(checked_device(device))];
}

// The cache that owns the block at `address`; null if none does.
DeviceCache* cache_of(void* address) {
  if (is_host_addressable()) {
    const c10::DeviceIndex device = device_of_address(address);
    return device < 0 ? nullptr : &cache(device);
  }
  for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
    if (is_device_initialized(device) && cache(device).is_live(address)) return &cache(device);
  }
  return nullptr;
}

struct Registration {
  Registration() { c10::SetAllocator(c10::DeviceType::PrivateUse1, &caching_allocator()); }
};
[[maybe_unused]] const Registration registration;

}  // namespace

CachingAllocator& caching_allocator() {
  static auto& instance = *std::make_unique<CachingAllocator>().release();
  return instance;
}

void* CachingAllocator::allocate_raw(c10::DeviceIndex device, std::size_t nbytes) {
  if (nbytes == 0) return nullptr;
  if (C10_UNLIKELY(has_custom_allocator())) return plugged::allocate(nbytes, current_stream(checked_device(device)));
  return cache(device).allocate(nbytes, current_stream(device).id());
}

c10::DataPtr CachingAllocator::allocate_on(c10::DeviceIndex device, std::size_t nbytes) {
  if (nbytes == 0) bind_device(device);  // an empty tensor also requires an existing device
  void* address = allocate_raw(device, nbytes);
  return {address, address, &release, c10::Device(c10::DeviceType::PrivateUse1, device)};
}

c10::DataPtr CachingAllocator::allocate(std::size_t nbytes) { return allocate_on(current_device(), nbytes); }

void CachingAllocator::release(void* address) noexcept {
  if (address == nullptr || in_bad_fork()) return;
  if (C10_UNLIKELY(has_custom_allocator()) && plugged::release(address)) return;
  if (DeviceCache* owner = cache_of(address)) owner->release(address);
}

bool CachingAllocator::is_live(void* address) {
  if (C10_UNLIKELY(has_custom_allocator())) return plugged::is_live(address);
  DeviceCache* owner = cache_of(address);
  return owner != nullptr && owner->is_live(address);
}

void CachingAllocator::copy_data(void* dest, const void* src, std::size_t count) const {
  c10::DeviceIndex device = current_device();
  bind_device(device);
  const c10::Stream stream = torch_npu::current_stream(device);
  trace::Launch launch("Memcpy DtoD", trace::Kind::kCopy, stream);
  acl_check(aclrtMemcpyAsync(dest, count, src, count, ACL_MEMCPY_DEVICE_TO_DEVICE, Enqueue(stream).handle()),
            "aclrtMemcpyAsync");
}

bool CachingAllocator::initialized() { return is_initialized(); }

void CachingAllocator::emptyCache(c10::MempoolId_t) {
  for (c10::DeviceIndex i = 0; i < kMaxDevices; ++i) {
    if (is_device_initialized(i)) cache(i).empty();
  }
}

void CachingAllocator::recordStream(const c10::DataPtr& ptr, c10::Stream stream) {
  if (ptr.get() != nullptr) cache(ptr.device().index()).record_stream(ptr.get(), stream.id());
}

c10::CachingDeviceAllocator::DeviceStats CachingAllocator::getDeviceStats(c10::DeviceIndex device) {
  TORCH_CHECK(!has_custom_allocator(), "NPUPluggableAllocator does not have memory statistics");
  return cache(device).statistics();
}

void CachingAllocator::resetAccumulatedStats(c10::DeviceIndex device) { cache(device).reset_accumulated_stats(); }
void CachingAllocator::resetPeakStats(c10::DeviceIndex device) { cache(device).reset_peak_stats(); }

std::pair<std::size_t, std::size_t> CachingAllocator::getMemoryInfo(c10::DeviceIndex device) {
  std::size_t free = 0;
  std::size_t total = 0;
  bind_device(device);
  acl_check(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), "aclrtGetMemInfo");
  return {free, total};
}

void CachingAllocator::set_memory_fraction(c10::DeviceIndex device, double fraction) {
  cache(device).set_memory_fraction(fraction);
}

double CachingAllocator::memory_fraction(c10::DeviceIndex device) { return cache(device).memory_fraction(); }

std::vector<c10::CachingDeviceAllocator::SegmentInfo> CachingAllocator::snapshot() {
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> all;
  for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
    auto segments = cache(device).snapshot();
    all.insert(all.end(), segments.begin(), segments.end());
  }
  return all;
}

std::vector<std::vector<History::Entry>> CachingAllocator::history() {
  std::vector<std::vector<History::Entry>> all;
  for (c10::DeviceIndex device = 0; device < device_count(); ++device) all.push_back(cache(device).history());
  return all;
}

void CachingAllocator::record_history(const HistorySettings& settings) {
  for (c10::DeviceIndex device = 0; device < device_count(); ++device) cache(device).record_history(settings);
}

void use_pool(c10::DeviceIndex device, c10::MempoolId_t id, const MemPoolOptions& options) {
  cache(device).use_pool(id, options);
}
void release_pool(c10::DeviceIndex device, c10::MempoolId_t id) { cache(device).release_pool(id); }
int pool_use_count(c10::DeviceIndex device, c10::MempoolId_t id) { return cache(device).pool_use_count(id); }
void empty_pool(c10::DeviceIndex device, c10::MempoolId_t id) { cache(device).empty_pool(id); }
void begin_capture_to_pool(c10::DeviceIndex device, c10::MempoolId_t id, IsCaptured is_captured) {
  cache(device).begin_capture(id, std::move(is_captured));
}
void end_capture_to_pool(c10::DeviceIndex device, c10::MempoolId_t id) { cache(device).end_capture(id); }

void erase_stream(void* address, c10::Stream stream) {
  TORCH_CHECK(cache(stream.device_index()).erase_stream(address, stream.id()), "address ", address,
              " is no live npu allocation of the stream's device");
}

std::pair<char*, std::size_t> CachingAllocator::shareable(c10::DeviceIndex device, void* address) {
  return cache(device).shareable(address);
}

}  // namespace torch_npu
