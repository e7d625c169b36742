#include "core/allocator/device_cache.h"

#include <c10/util/Exception.h>

#include <algorithm>

#include "core/acl.h"
#include "core/device.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

using c10::CachingAllocator::format_size;
using Stats = c10::CachingDeviceAllocator::DeviceStats;

// The sizes of PyTorch's own caching allocators: users know their behaviour.
constexpr std::size_t kSmallSize = std::size_t{1} << 20;
constexpr std::size_t kSmallSegment = std::size_t{2} << 20;
constexpr std::size_t kLargeSegment = std::size_t{20} << 20;
constexpr std::size_t kMinLargeSegment = std::size_t{10} << 20;
constexpr std::size_t kRoundLarge = std::size_t{2} << 20;

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::size_t segment_size(std::size_t size) {
  if (size <= kSmallSize) return kSmallSegment;
  if (size < kMinLargeSegment) return kLargeSegment;
  return round_up(size, kRoundLarge);
}

}  // namespace

void* DeviceCache::allocate(std::size_t requested, c10::StreamId stream) {
  TORCH_CHECK_WITH(OutOfMemoryError, requested < (std::size_t{1} << 62), "NPU out of memory. Tried to allocate ",
                   format_size(requested));
  std::size_t size = round_up(requested, kMinBlock);
  BlockPool& pool = size <= kSmallSize ? small_ : large_;
  bind_device(device_);
  std::lock_guard lock(mutex_);
  process_events(false);
  Block* block = find_free(size, stream, pool);
  if (block == nullptr) {
    settle_resting();
    block = find_free(size, stream, pool);
  }
  if (block == nullptr) block = new_segment(size, stream, pool);
  if (block == nullptr) {
    // What other streams still use, then what lies unused, goes back before giving up.
    ++stats_.num_alloc_retries;
    process_events(true);
    release_free_segments();
    block = find_free(size, stream, pool);
    if (block == nullptr) block = new_segment(size, stream, pool);
    if (block == nullptr) throw_out_of_memory(requested);
  }
  std::size_t keep = pool.type == c10::CachingAllocator::StatType::SMALL_POOL ? kMinBlock : kSmallSize;
  if (block->size - size >= keep) split(block, size);
  block->allocated = true;
  block->requested = requested;
  count(&Stats::allocation, pool, 1);
  count(&Stats::allocated_bytes, pool, static_cast<std::int64_t>(block->size));
  count(&Stats::active, pool, 1);
  count(&Stats::active_bytes, pool, static_cast<std::int64_t>(block->size));
  count(&Stats::requested_bytes, pool, static_cast<std::int64_t>(requested));
  return block->address;
}

void DeviceCache::release(void* address) noexcept {
  try {
    std::lock_guard lock(mutex_);
    auto it = blocks_.find(address);
    if (it == blocks_.end()) return;
    Block* block = it->second.get();
    block->allocated = false;
    count(&Stats::allocation, *block->pool, -1);
    count(&Stats::allocated_bytes, *block->pool, -static_cast<std::int64_t>(block->size));
    count(&Stats::requested_bytes, *block->pool, -static_cast<std::int64_t>(block->requested));
    if (block->other_streams.empty()) {
      make_free(block);
    } else {
      insert_events(block);
    }
  } catch (const std::exception& e) {
    TORCH_WARN("freeing npu memory failed: ", e.what());
  }
}

bool DeviceCache::record_stream(void* address, c10::StreamId stream) {
  std::lock_guard lock(mutex_);
  auto it = blocks_.find(address);
  if (it == blocks_.end()) return false;
  if (it->second->stream != stream) it->second->other_streams.insert(stream);
  return true;
}

void DeviceCache::empty() {
  bind_device(device_);
  std::lock_guard lock(mutex_);
  process_events(true);
  release_free_segments();
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

std::vector<c10::CachingDeviceAllocator::SegmentInfo> DeviceCache::snapshot() const {
  std::lock_guard lock(mutex_);
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> segments;
  for (const auto& [address, head] : blocks_) {
    if (head->previous != nullptr) continue;
    auto& segment = segments.emplace_back();
    segment.device = device_;
    segment.address = reinterpret_cast<std::size_t>(address);
    segment.is_large = head->pool->type == c10::CachingAllocator::StatType::LARGE_POOL;
    segment.stream = reinterpret_cast<void*>(head->stream);
    for (const Block* b = head.get(); b != nullptr; b = b->next) {
      const bool active = b->allocated || b->pending_events > 0;
      auto& block = segment.blocks.emplace_back();
      block.size = b->size;
      block.requested_size = b->allocated ? b->requested : 0;
      block.allocated = b->allocated;
      block.active = active;
      segment.total_size += b->size;
      segment.requested_size += block.requested_size;
      segment.allocated_size += b->allocated ? b->size : 0;
      segment.active_size += active ? b->size : 0;
    }
  }
  std::sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return segments;
}

Stats DeviceCache::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

namespace {

template <typename Change>
void for_each_stat(Stats& stats, Change change) {
  for (auto field :
       {&Stats::allocation, &Stats::segment, &Stats::active, &Stats::inactive_split, &Stats::allocated_bytes,
        &Stats::reserved_bytes, &Stats::active_bytes, &Stats::inactive_split_bytes, &Stats::requested_bytes}) {
    for (auto& stat : stats.*field) change(stat);
  }
  change(stats.oversize_allocations);
  change(stats.oversize_segments);
}

}  // namespace

void DeviceCache::reset_accumulated_stats() {
  std::lock_guard lock(mutex_);
  for_each_stat(stats_, [](auto& stat) { stat.reset_accumulated(); });
  stats_.num_alloc_retries = stats_.num_ooms = stats_.num_sync_all_streams = 0;
  stats_.num_device_alloc = stats_.num_device_free = 0;
}

void DeviceCache::reset_peak_stats() {
  std::lock_guard lock(mutex_);
  for_each_stat(stats_, [](auto& stat) { stat.reset_peak(); });
}

Block* DeviceCache::find_free(std::size_t size, c10::StreamId stream, BlockPool& pool) {
  if (Block* block = quick_.take(size, stream)) {
    count_split(block, -1);
    return block;
  }
  Block key;
  key.stream = stream;
  key.size = size;
  auto it = pool.free.lower_bound(&key);
  if (it == pool.free.end() || (*it)->stream != stream) return nullptr;
  Block* block = *it;
  remove_free(block);
  return block;
}

bool DeviceCache::may_grow(std::size_t bytes) const {
  if (fraction_ >= 1) return true;
  std::size_t free = 0;
  std::size_t total = 0;
  acl_check(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), "aclrtGetMemInfo");
  const auto reserved = static_cast<double>(stats_.reserved_bytes[0].current);
  return reserved + static_cast<double>(bytes) <= fraction_ * static_cast<double>(total);
}

Block* DeviceCache::new_segment(std::size_t size, c10::StreamId stream, BlockPool& pool) {
  std::size_t bytes = segment_size(size);
  if (!may_grow(bytes)) return nullptr;
  void* address = nullptr;
  aclError code = aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  if (code != ACL_SUCCESS && bytes > size) {
    bytes = size;  // a device that is nearly full may still have the block itself
    code = aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  }
  if (code == ACL_ERROR_RT_MEMORY_ALLOCATION || code == ACL_ERROR_BAD_ALLOC) return nullptr;
  acl_check(code, "aclrtMalloc");
  auto block = std::make_unique<Block>();
  block->stream = stream;
  block->size = bytes;
  block->address = static_cast<char*>(address);
  block->pool = &pool;
  ++stats_.num_device_alloc;
  count(&Stats::segment, pool, 1);
  count(&Stats::reserved_bytes, pool, static_cast<std::int64_t>(bytes));
  Block* made = block.get();
  blocks_[address] = std::move(block);
  return made;
}

void DeviceCache::split(Block* block, std::size_t size) {
  auto rest = std::make_unique<Block>();
  rest->stream = block->stream;
  rest->size = block->size - size;
  rest->address = block->address + size;
  rest->pool = block->pool;
  rest->previous = block;
  rest->next = block->next;
  if (rest->next != nullptr) rest->next->previous = rest.get();
  block->next = rest.get();
  block->size = size;
  insert_free(rest.get());
  blocks_[rest->address] = std::move(rest);
}

void DeviceCache::make_free(Block* block) {
  BlockPool& pool = *block->pool;
  count(&Stats::active, pool, -1);
  count(&Stats::active_bytes, pool, -static_cast<std::int64_t>(block->size));
  if (quick_.put(block)) {
    count_split(block, 1);
  } else {
    settle(block);
  }
}

void DeviceCache::settle_resting() {
  while (Block* block = quick_.drain()) {
    count_split(block, -1);
    settle(block);
  }
}

void DeviceCache::settle(Block* block) {
  auto is_free = [](const Block* b) {
    return b != nullptr && !b->allocated && !b->is_resting && b->pending_events == 0;
  };
  if (Block* next = block->next; is_free(next)) {
    remove_free(next);
    absorb_next(block);
  }
  if (Block* previous = block->previous; is_free(previous)) {
    remove_free(previous);
    absorb_next(previous);
    block = previous;
  }
  insert_free(block);
}

void DeviceCache::insert_free(Block* block) {
  block->pool->free.insert(block);
  count_split(block, 1);
}

void DeviceCache::remove_free(Block* block) {
  block->pool->free.erase(block);
  count_split(block, -1);
}

void DeviceCache::count_split(const Block* block, std::int64_t sign) {
  if (!block->is_split()) return;
  count(&Stats::inactive_split, *block->pool, sign);
  count(&Stats::inactive_split_bytes, *block->pool, sign * static_cast<std::int64_t>(block->size));
}

void DeviceCache::absorb_next(Block* block) {
  Block* next = block->next;
  block->size += next->size;
  block->next = next->next;
  if (block->next != nullptr) block->next->previous = block;
  blocks_.erase(next->address);
}

void DeviceCache::release_free_segments() {
  // Work in the queue may still touch a block that the host has freed; only the stream's order protected it.
  acl_check(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
  settle_resting();
  for (BlockPool* pool : {&small_, &large_}) {
    for (auto it = pool->free.begin(); it != pool->free.end();) {
      Block* block = *it;
      if (block->is_split()) {
        ++it;
        continue;
      }
      it = pool->free.erase(it);
      acl_warn(aclrtFree(block->address), "aclrtFree");
      ++stats_.num_device_free;
      count(&Stats::segment, *pool, -1);
      count(&Stats::reserved_bytes, *pool, -static_cast<std::int64_t>(block->size));
      blocks_.erase(block->address);
    }
  }
}

void DeviceCache::insert_events(Block* block) {
  auto streams = std::move(block->other_streams);
  block->other_streams.clear();
  for (c10::StreamId stream : streams) {
    aclrtEvent event = nullptr;
    acl_check(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), "aclrtCreateEventExWithFlag");
    acl_check(aclrtRecordEvent(event, Enqueue(npu_stream(device_, stream)).handle()), "aclrtRecordEvent");
    ++block->pending_events;
    events_.emplace_back(event, block);
  }
}

void DeviceCache::process_events(bool wait) {
  while (!events_.empty()) {
    auto [event, block] = events_.front();
    if (wait) {
      acl_check(aclrtSynchronizeEvent(event), "aclrtSynchronizeEvent");
    } else {
      aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
      acl_check(aclrtQueryEventStatus(event, &status), "aclrtQueryEventStatus");
      if (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) return;
    }
    events_.pop_front();
    acl_warn(aclrtDestroyEvent(event), "aclrtDestroyEvent");
    if (--block->pending_events == 0) make_free(block);
  }
  if (wait) ++stats_.num_sync_all_streams;
}

void DeviceCache::throw_out_of_memory(std::size_t size) {
  ++stats_.num_ooms;
  std::size_t free = 0;
  std::size_t total = 0;
  acl_warn(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), "aclrtGetMemInfo");
  (void)aclGetRecentErrMsg();  // the refusal is told below, in PyTorch's words
  auto allocated = static_cast<std::size_t>(stats_.allocated_bytes[0].current);
  auto reserved = static_cast<std::size_t>(stats_.reserved_bytes[0].current);
  TORCH_CHECK_WITH(
      OutOfMemoryError, false, "NPU out of memory. Tried to allocate ", format_size(size), " (NPU ",
      static_cast<int>(device_), "; ", format_size(total), " total capacity; ", format_size(allocated),
      " already allocated; ", format_size(free), " free; ", format_size(reserved),
      " reserved in total by PyTorch). Use a smaller batch or accumulate gradients; if reserved memory is much larger "
      "than allocated memory, call torch.npu.empty_cache(). On the software NPU, SOFTNPU_HBM sets the capacity.",
      error_tail("ERR00006", "PTA memory error"));
}

void DeviceCache::count(StatField field, const BlockPool& pool, std::int64_t amount) {
  for (auto type : {c10::CachingAllocator::StatType::AGGREGATE, pool.type}) {
    auto& stat = (stats_.*field)[static_cast<std::size_t>(type)];
    if (amount >= 0) {
      stat.increase(static_cast<std::size_t>(amount));
    } else {
      stat.decrease(static_cast<std::size_t>(-amount));
    }
  }
}

}  // namespace torch_npu
