#include "core/allocator/device_cache.h"

#include <c10/core/AllocatorConfig.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "core/acl.h"
#include "core/allocator/round.h"
#include "core/allocator/settings.h"
#include "core/capture.h"
#include "core/device.h"
#include "core/memory_events.h"
#include "core/stream.h"
#include "core/wait.h"

namespace torch_npu {
namespace {

using c10::CachingAllocator::AcceleratorAllocatorConfig;
using c10::CachingAllocator::format_size;
using c10::CachingAllocator::kSmallSize;
using c10::CachingDeviceAllocator::RecordContext;

// roundup_power2_divisions: the number of size classes between two powers of two.
std::size_t block_size(std::size_t requested) {
  if (requested <= kMinBlock) return kMinBlock;
  const std::size_t divisions = AcceleratorAllocatorConfig::roundup_power2_divisions(requested);
  if (divisions > 1 && requested > kMinBlock * divisions) {
    std::size_t power = kMinBlock;
    while (power <= requested / 2) power *= 2;
    return round_up(requested, power / divisions);
  }
  return round_up(requested, kMinBlock);
}

// Whether its stream has passed `event`; with `wait` waits for that.
bool has_passed(aclrtEvent event, bool wait) {
  if (wait) {
    count_synchronization();
    acl_check(aclrtSynchronizeEvent(event), "aclrtSynchronizeEvent");
    return true;
  }
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  acl_check(aclrtQueryEventStatus(event, &status), "aclrtQueryEventStatus");
  return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

std::atomic<void (*)(c10::DeviceIndex)> out_of_memory_observer{nullptr};

bool is_oversize(std::size_t size) { return size >= AcceleratorAllocatorConfig::max_split_size(); }

}  // namespace

void set_out_of_memory_observer(void (*observer)(c10::DeviceIndex)) { out_of_memory_observer = observer; }

void* DeviceCache::allocate(std::size_t requested, c10::StreamId stream) {
  TORCH_CHECK_WITH(OutOfMemoryError, requested < (std::size_t{1} << 60),
                   "NPU out of memory. Tried to allocate more than 1EB memory: ", format_size(requested));
  read_allocator_settings();
  const std::size_t size = block_size(requested);
  bind_device(device_);
  History::Context context = history_.gather(RecordContext::STATE);
  const char* site = C10_UNLIKELY(tracks_blocks_) ? allocation_site() : nullptr;
  std::unique_lock lock(mutex_);
  BlockPool& pool = pool_for(size, stream);
  process_events(false);
  Block* block = find(size, stream, pool);
  if (block == nullptr) block = obtain(size, stream, pool, context);
  if (block == nullptr) {
    if (auto* observer = out_of_memory_observer.load(std::memory_order_relaxed)) {
      lock.unlock();
      observer(device_);
      lock.lock();
    }
    throw_out_of_memory(requested);
  }
  take(block, size, requested, std::move(context));
  if (C10_UNLIKELY(tracks_blocks_)) report_block(block->address, requested, site);
  return block->address;
}

Block* DeviceCache::find(std::size_t size, c10::StreamId stream, BlockPool& pool) {
  if (Block* block = find_free(size, stream, pool)) return block;
  coalesce_small_blocks();
  return find_free(size, stream, pool);
}

Block* DeviceCache::find_free(std::size_t size, c10::StreamId stream, BlockPool& pool) {
  if (pool.owner == nullptr) {
    if (Block* block = small_blocks_.take(size, stream)) {
      count_split(block, -1);
      return block;
    }
  }
  Block key;
  key.stream = stream;
  key.size = size;
  auto it = pool.free.lower_bound(&key);
  if (it == pool.free.end() || (*it)->stream != stream) return nullptr;
  Block* block = *it;
  // Blocks that are never split are reserved for requests of about their size.
  if (!is_oversize(size) && is_oversize(block->size)) return nullptr;
  if (is_oversize(size) && block->size >= size + AcceleratorAllocatorConfig::max_non_split_rounding_size()) {
    return nullptr;
  }
  remove_free(block);
  return block;
}

Block* DeviceCache::obtain(std::size_t size, c10::StreamId stream, BlockPool& pool, const History::Context& context) {
  const bool expandable =
      AcceleratorAllocatorConfig::use_expandable_segments() && !caching_is_off() && pool.owner == nullptr;
  auto more = [&] { return expandable ? grow(size, stream, pool, context) : new_segment(size, stream, pool, context); };
  if (C10_UNLIKELY(any_capture())) return more();
  if (C10_UNLIKELY(has_deferred_)) release_deferred();
  collect_garbage();
  if (saves_memory()) {
    if (Block* block = reclaim(size, stream, pool)) return block;
  }
  if (Block* block = more()) return block;
  // Before failing, releases blocks that other streams used, then all free memory.
  ++stats_.values.num_alloc_retries;
  process_events(true);
  release_free_memory();
  if (Block* block = find_free(size, stream, pool)) return block;
  if (Block* block = more()) return block;
  if (pool.owner != nullptr) return nullptr;
  for (const auto& [id, spare] : private_pools_) {
    if (!spare->options.use_on_oom) continue;
    if (Block* block = find_free(size, stream, pool.is_large() ? spare->large : spare->small)) return block;
  }
  return nullptr;
}

void DeviceCache::take(Block* block, std::size_t size, std::size_t requested, History::Context context) {
  BlockPool& pool = *block->pool;
  if (is_worth_splitting(block, size)) insert_free(split(block, size));
  block->allocated = true;
  block->requested = requested;
  stats_.count(&Stats::allocation, pool.type, 1);
  stats_.count(&Stats::allocated_bytes, pool.type, static_cast<std::int64_t>(block->size));
  stats_.count(&Stats::active, pool.type, 1);
  stats_.count(&Stats::active_bytes, pool.type, static_cast<std::int64_t>(block->size));
  stats_.count(&Stats::requested_bytes, pool.type, static_cast<std::int64_t>(requested));
  if (pool.is_large() && is_oversize(block->size)) stats_.count_oversize(&Stats::oversize_allocations, 1);
  if (C10_UNLIKELY(history_.recording())) {
    record(Action::ALLOC, block, requested, context);
    block->context = std::move(context);
  }
  report(block, static_cast<std::int64_t>(block->size));
}

void DeviceCache::release(void* address) noexcept {
  try {
    History::Context context = history_.gather(RecordContext::ALL);
    if (C10_UNLIKELY(caching_is_off())) bind_device(device_);  // it returns memory at once
    std::lock_guard lock(mutex_);
    auto it = blocks_.find(address);
    if (it == blocks_.end() || !it->second->allocated) return;
    Block* block = it->second.get();
    block->allocated = false;
    if (C10_UNLIKELY(tracks_blocks_)) report_block_freed(address);
    const auto type = block->pool->type;
    stats_.count(&Stats::allocation, type, -1);
    stats_.count(&Stats::allocated_bytes, type, -static_cast<std::int64_t>(block->size));
    stats_.count(&Stats::requested_bytes, type, -static_cast<std::int64_t>(block->requested));
    if (block->pool->is_large() && is_oversize(block->size)) {
      stats_.count_oversize(&Stats::oversize_allocations, -1);
    }
    report(block, -static_cast<std::int64_t>(block->size));
    if (C10_UNLIKELY(history_.recording())) {
      record(Action::FREE_REQUESTED, block, block->requested, context ? context : block->context);
    }
    if (block->other_streams.empty()) {
      make_free(block);
    } else {
      insert_events(block);
    }
  } catch (const std::exception& e) {
    TORCH_WARN("freeing npu memory failed: ", e.what());
  }
}

bool DeviceCache::is_live(void* address) const {
  std::lock_guard lock(mutex_);
  auto it = blocks_.find(address);
  return it != blocks_.end() && it->second->allocated;
}

bool DeviceCache::record_stream(void* address, c10::StreamId stream) {
  std::lock_guard lock(mutex_);
  auto it = blocks_.find(address);
  if (it == blocks_.end() || !it->second->allocated) return false;
  if (it->second->stream != stream) it->second->other_streams.insert(stream);
  return true;
}

bool DeviceCache::erase_stream(void* address, c10::StreamId stream) {
  std::lock_guard lock(mutex_);
  auto it = blocks_.find(address);
  if (it == blocks_.end() || !it->second->allocated) return false;
  it->second->other_streams.erase(stream);
  return true;
}

void DeviceCache::empty() {
  bind_device(device_);
  wait_for_device(device_);  // without the lock, which functions that streams wait for may need
  std::lock_guard lock(mutex_);
  process_events(true);
  release_free_memory();
}

void DeviceCache::set_memory_fraction(double fraction) {
  TORCH_CHECK_VALUE(fraction >= 0 && fraction <= 1, "Invalid fraction value: ", fraction, ". Allowed range: 0~1");
  std::lock_guard lock(mutex_);
  fraction_ = fraction;
}

double DeviceCache::memory_fraction() const {
  std::lock_guard lock(mutex_);
  return fraction_;
}

std::vector<c10::CachingDeviceAllocator::SegmentInfo> DeviceCache::snapshot() {
  std::lock_guard lock(mutex_);
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> segments;
  for (const auto& [address, head] : blocks_) {
    // An expandable segment is reported as the runs of it that have memory.
    if (!head->mapped || (head->previous != nullptr && head->previous->mapped)) continue;
    auto& segment = segments.emplace_back();
    segment.device = device_;
    segment.address = reinterpret_cast<std::size_t>(address);
    segment.is_large = head->pool->is_large();
    segment.is_expandable = head->segment != nullptr;
    if (head->pool->owner != nullptr) segment.owner_private_pool_id = head->pool->owner->id;
    segment.stream = reinterpret_cast<void*>(head->stream);
    segment.context_when_allocated = head->segment_context;
    for (const Block* b = head.get(); b != nullptr && b->mapped; b = b->next) {
      const bool active = b->allocated || b->pending_events > 0;
      auto& block = segment.blocks.emplace_back();
      block.size = b->size;
      block.requested_size = b->allocated ? b->requested : 0;
      block.allocated = b->allocated;
      block.active = active;
      if (active) block.context_when_allocated = b->context;
      segment.total_size += b->size;
      segment.requested_size += block.requested_size;
      segment.allocated_size += b->allocated ? b->size : 0;
      segment.active_size += active ? b->size : 0;
    }
  }
  std::sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  history_.add(Action::SNAPSHOT, device_, 0, static_cast<std::size_t>(stats_.values.active_bytes[0].current), 0,
               nullptr);
  return segments;
}

std::vector<History::Entry> DeviceCache::history() const {
  std::lock_guard lock(mutex_);
  return history_.entries();
}

void DeviceCache::record_history(const HistorySettings& settings) {
  std::lock_guard lock(mutex_);
  history_.set(settings);
  if (settings.enabled) return;
  for (auto& [address, block] : blocks_) block->context = block->segment_context = nullptr;
}

std::pair<char*, std::size_t> DeviceCache::shareable(void* address) const {
  std::lock_guard lock(mutex_);
  auto it = blocks_.find(address);
  TORCH_CHECK(it != blocks_.end() && it->second->allocated, "address ", address, " is no live npu allocation");
  const Block* block = it->second.get();
  if (block->segment != nullptr) return {block->address, block->size};
  while (block->previous != nullptr) block = block->previous;
  std::pair<char*, std::size_t> range{block->address, 0};
  for (; block != nullptr; block = block->next) range.second += block->size;
  return range;
}

Statistics::Values DeviceCache::statistics() const {
  std::lock_guard lock(mutex_);
  Statistics::Values values = stats_.values;
  values.max_split_size = static_cast<std::int64_t>(AcceleratorAllocatorConfig::max_split_size());
  return values;
}

void DeviceCache::reset_accumulated_stats() {
  std::lock_guard lock(mutex_);
  stats_.reset_accumulated();
}

void DeviceCache::reset_peak_stats() {
  std::lock_guard lock(mutex_);
  stats_.reset_peaks();
}

bool DeviceCache::is_worth_splitting(const Block* block, std::size_t size) const {
  const std::size_t rest = block->size - size;
  if (block->pool->owner != nullptr && block->pool->owner->options.no_split) return false;
  if (!block->pool->is_large() || block->segment != nullptr) return rest >= kMinBlock;
  return !is_oversize(size) && rest > kSmallSize;
}

Block* DeviceCache::split(Block* block, std::size_t size) {
  auto rest = std::make_unique<Block>();
  rest->stream = block->stream;
  rest->size = block->size - size;
  rest->address = block->address + size;
  rest->pool = block->pool;
  rest->mapped = block->mapped;
  rest->segment = block->segment;
  rest->freed_at = block->freed_at;
  rest->previous = block;
  rest->next = block->next;
  if (rest->next != nullptr) rest->next->previous = rest.get();
  block->next = rest.get();
  block->size = size;
  Block* result = rest.get();
  blocks_[result->address] = std::move(rest);
  return result;
}

void DeviceCache::make_free(Block* block) {
  const auto type = block->pool->type;
  stats_.count(&Stats::active, type, -1);
  stats_.count(&Stats::active_bytes, type, -static_cast<std::int64_t>(block->size));
  if (C10_UNLIKELY(history_.recording())) record(Action::FREE_COMPLETED, block, block->requested, block->context);
  block->context = nullptr;
  block->freed_at = ++clock_;
  report_freed(block->address, block->size);
  discard(npu_stream(device_, block->stream), block->address, block->size);
  if (C10_UNLIKELY(caching_is_off() && in_callback())) {
    coalesce(block);
    has_deferred_ = true;
  } else if (C10_UNLIKELY(caching_is_off())) {
    wait_until_idle(device_);
    release_segment(block);
  } else if (block->pool->owner == nullptr && small_blocks_.put(block)) {
    count_split(block, 1);
  } else {
    coalesce(block);
  }
}

void DeviceCache::coalesce_small_blocks() {
  small_blocks_.drain([this](Block* block) {
    count_split(block, -1);
    coalesce(block);
  });
}

void DeviceCache::coalesce(Block* block) {
  if (Block* next = block->next; next != nullptr && next->is_free) {
    remove_free(next);
    absorb_next(block);
  }
  if (Block* previous = block->previous; previous != nullptr && previous->is_free) {
    remove_free(previous);
    previous->freed_at = std::max(previous->freed_at, block->freed_at);
    absorb_next(previous);
    block = previous;
  }
  insert_free(block);
}

void DeviceCache::insert_free(Block* block) {
  block->is_free = true;
  block->pool->free.insert(block);
  count_split(block, 1);
}

void DeviceCache::remove_free(Block* block) {
  block->is_free = false;
  block->pool->free.erase(block);
  count_split(block, -1);
}

void DeviceCache::count_split(const Block* block, std::int64_t sign) {
  // Free parts of an expandable segment can be unmapped, so they do not count.
  if (!block->is_split() || block->segment != nullptr) return;
  stats_.count(&Stats::inactive_split, block->pool->type, sign);
  stats_.count(&Stats::inactive_split_bytes, block->pool->type, sign * static_cast<std::int64_t>(block->size));
}

void DeviceCache::absorb_next(Block* block) {
  Block* next = block->next;
  block->size += next->size;
  block->next = next->next;
  if (block->next != nullptr) block->next->previous = block;
  blocks_.erase(next->address);
}

void DeviceCache::insert_events(Block* block) {
  if (C10_UNLIKELY(any_capture())) return freed_in_capture_.push_back(block);
  bind_device(device_);  // any thread may free the tensor
  // If this throws, the block is never reused: it is unknown when the other streams are done with it.
  for (c10::StreamId stream : std::exchange(block->other_streams, {})) {
    aclrtEvent event = nullptr;
    ++block->pending_events;
    acl_check(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), "aclrtCreateEventExWithFlag");
    acl_check(aclrtRecordEvent(event, Enqueue(npu_stream(device_, stream)).handle()), "aclrtRecordEvent");
    events_[stream].emplace_back(event, block);
  }
}

void DeviceCache::process_events(bool wait) {
  if (C10_UNLIKELY(any_capture())) return;
  for (auto queue = events_.begin(); queue != events_.end();) {
    auto& events = queue->second;
    while (!events.empty() && has_passed(events.front().first, wait)) {
      auto [event, block] = events.front();
      events.pop_front();
      acl_warn(aclrtDestroyEvent(event), "aclrtDestroyEvent");
      if (--block->pending_events == 0) make_free(block);
    }
    queue = events.empty() ? events_.erase(queue) : std::next(queue);
  }
  if (wait) ++stats_.values.num_sync_all_streams;
}

void DeviceCache::throw_out_of_memory(std::size_t size) {
  ++stats_.values.num_ooms;
  std::size_t free = 0;
  std::size_t total = 0;
  acl_warn(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), "aclrtGetMemInfo");
  (void)aclGetRecentErrMsg();  // replaced by PyTorch's message below
  auto allocated = static_cast<std::size_t>(stats_.values.allocated_bytes[0].current);
  auto reserved = static_cast<std::size_t>(stats_.values.reserved_bytes[0].current);
  history_.add(Action::OOM, device_, free, size, 0, nullptr);
  c10::reportOutOfMemoryToProfiler(static_cast<std::int64_t>(size), allocated, reserved, npu_device(device_));
  TORCH_CHECK_WITH(
      OutOfMemoryError, false, "NPU out of memory. Tried to allocate ", format_size(size), " (NPU ",
      static_cast<int>(device_), "; ", format_size(total), " total capacity; ", format_size(allocated),
      " already allocated; ", format_size(free), " free; ", format_size(reserved),
      " reserved in total by PyTorch). Use a smaller batch (torch_npu.utils.find_optimal_batch_size measures the "
      "largest that fits) or accumulate gradients; if reserved memory is much larger than allocated memory, call "
      "torch.npu.empty_cache() or set NPU_MEMORY_OPTIMIZATION=1. On the software NPU, SOFTNPU_HBM sets the capacity.",
      error_tail("ERR00006", "PTA memory error"));
}

void DeviceCache::record(Action action, const Block* block, std::size_t size, History::Context context) {
  const PrivatePool* owner = block->pool == nullptr ? nullptr : block->pool->owner;
  history_.add(action, device_, reinterpret_cast<std::size_t>(block->address), size, block->stream, std::move(context),
               owner == nullptr ? c10::MempoolId_t{0, 0} : owner->id);
}

void DeviceCache::report(const Block* block, std::int64_t size) const {
  c10::reportMemoryUsageToProfiler(
      block->address, size, static_cast<std::size_t>(stats_.values.allocated_bytes[0].current),
      static_cast<std::size_t>(stats_.values.reserved_bytes[0].current), npu_device(device_));
}

}  // namespace torch_npu
