#include "core/allocator/mem_pool.h"

#include <c10/core/AllocatorConfig.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "core/allocator/device_cache.h"
#include "core/allocator/settings.h"
#include "core/capture.h"
#include "core/device.h"
#include "core/stream.h"
#include "core/wait.h"

namespace torch_npu {
namespace {

using c10::CachingAllocator::kSmallSize;

// The pools that this thread allocates from, the innermost last.
thread_local std::vector<std::pair<c10::DeviceIndex, c10::MempoolId_t>> active_pools;

}  // namespace

c10::MempoolId_t new_pool_id() noexcept {
  static std::atomic<c10::CaptureId_t> next{1};
  return {0, next.fetch_add(1)};
}

void begin_allocate_to_pool(c10::DeviceIndex device, c10::MempoolId_t id) {
  use_pool(device, id, {});
  active_pools.emplace_back(device, id);
}

void end_allocate_to_pool(c10::DeviceIndex device, c10::MempoolId_t id) {
  const auto found = std::find(active_pools.rbegin(), active_pools.rend(), std::pair(device, id));
  TORCH_CHECK(found != active_pools.rend(), "this thread does not allocate from the pool");
  active_pools.erase(std::next(found).base());
}

void DeviceCache::begin_capture(c10::MempoolId_t id, IsCaptured is_captured) {
  std::lock_guard lock(mutex_);
  captures_.emplace_back(id, std::move(is_captured));
}

void DeviceCache::end_capture(c10::MempoolId_t id) {
  std::lock_guard lock(mutex_);
  std::erase_if(captures_, [&](const auto& capture) { return capture.first == id; });
  if (!captures_.empty()) return;
  for (Block* block : std::exchange(freed_in_capture_, {})) insert_events(block);
}

BlockPool& DeviceCache::pool_for(std::size_t size, c10::StreamId stream) {
  const bool small = size <= kSmallSize;
  for (const auto& [id, is_captured] : captures_) {
    if (!is_captured(stream)) continue;
    PrivatePool& pool = *private_pools_.at(id);
    return small ? pool.small : pool.large;
  }
  if (C10_UNLIKELY(!active_pools.empty())) {
    for (auto it = active_pools.rbegin(); it != active_pools.rend(); ++it) {
      if (it->first != device_) continue;
      PrivatePool& pool = *private_pools_.at(it->second);
      return small ? pool.small : pool.large;
    }
  }
  return small ? small_ : large_;
}

void DeviceCache::use_pool(c10::MempoolId_t id, const MemPoolOptions& options) {
  std::lock_guard lock(mutex_);
  auto& pool = private_pools_[id];
  if (pool == nullptr) pool = std::make_unique<PrivatePool>(id, options);
  ++pool->use_count;
}

void DeviceCache::release_pool(c10::MempoolId_t id) {
  bind_device(device_);
  {
    std::lock_guard lock(mutex_);
    const auto it = private_pools_.find(id);
    TORCH_CHECK(it != private_pools_.end() && it->second->use_count > 0, "the pool was released already");
    if (--it->second->use_count > 0) return;
    has_deferred_ = true;
  }
  // A stream may wait for this very function, or for one that needs the lock. A captured stream is not waited for.
  if (in_callback() || any_capture()) return;
  wait_for_device(device_);
  std::lock_guard lock(mutex_);
  release_deferred();
}

void DeviceCache::release_deferred() {
  if (in_callback() || any_capture() || is_any_busy(device_)) return;
  has_deferred_ = false;
  process_events(false);
  for (const auto& [id, pool] : private_pools_) {
    if (pool->use_count > 0) continue;
    release_free_blocks(pool->small);
    release_free_blocks(pool->large);
  }
  if (caching_is_off()) {
    release_free_blocks(small_);
    release_free_blocks(large_);
  }
  erase_dead_pools();
}

int DeviceCache::pool_use_count(c10::MempoolId_t id) const {
  std::lock_guard lock(mutex_);
  const auto it = private_pools_.find(id);
  return it == private_pools_.end() ? 0 : it->second->use_count;
}

void DeviceCache::empty_pool(c10::MempoolId_t id) {
  bind_device(device_);
  wait_for_device(device_);  // without the lock, which functions that streams wait for may need
  std::lock_guard lock(mutex_);
  const auto it = private_pools_.find(id);
  if (it == private_pools_.end()) return;
  wait_for_device(device_);
  process_events(true);
  release_free_blocks(it->second->small);
  release_free_blocks(it->second->large);
  erase_dead_pools();
}

void DeviceCache::erase_dead_pools() {
  std::erase_if(private_pools_,
                [](const auto& entry) { return entry.second->use_count == 0 && entry.second->segments == 0; });
}

}  // namespace torch_npu
