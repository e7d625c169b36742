// How the cache allocates device memory and releases it.

#include <c10/core/AllocatorConfig.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/acl.h"
#include "core/allocator/device_cache.h"
#include "core/allocator/round.h"
#include "core/allocator/settings.h"
#include "core/capture.h"
#include "core/device.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

using c10::CachingAllocator::AcceleratorAllocatorConfig;
using c10::CachingAllocator::kMinLargeAlloc;
using c10::CachingAllocator::kRoundLarge;
using c10::CachingAllocator::kSmallBuffer;
using c10::CachingAllocator::kSmallSize;

// The segment sizes of PyTorch's own caching allocators: users know their behaviour.
std::size_t segment_size(std::size_t size) {
  if (caching_is_off()) return size;
  if (size <= kSmallSize) return kSmallBuffer;
  if (size < kMinLargeAlloc) return AcceleratorAllocatorConfig::large_segment_size();
  return round_up(size, kRoundLarge);
}

// The size of the free block before a gap. One that is large enough alone was rejected because of its size.
std::size_t free_before(const Block* gap, std::size_t size) {
  const Block* previous = gap->previous;
  return previous != nullptr && previous->is_free && previous->size < size ? previous->size : 0;
}

std::size_t capacity() {
  std::size_t free = 0;
  std::size_t total = 0;
  acl_check(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), "aclrtGetMemInfo");
  return total;
}

// The program's allocator of a private pool; null for the device's memory.
const RawAllocator* source_of(const BlockPool& pool) {
  if (pool.owner == nullptr || pool.owner->options.source.allocate == nullptr) return nullptr;
  return &pool.owner->options.source;
}

}  // namespace

std::size_t DeviceCache::limit() const { return static_cast<std::size_t>(fraction_ * static_cast<double>(capacity())); }

bool DeviceCache::may_grow(std::size_t bytes) const {
  if (fraction_ >= 1) return true;
  return static_cast<std::size_t>(stats_.values.reserved_bytes[0].current) + bytes <= limit();
}

Block* DeviceCache::add_block(char* address, std::size_t size, c10::StreamId stream, BlockPool& pool) {
  auto block = std::make_unique<Block>();
  block->stream = stream;
  block->size = size;
  block->address = address;
  block->pool = &pool;
  Block* result = block.get();
  blocks_[address] = std::move(block);
  return result;
}

Block* DeviceCache::new_segment(std::size_t size, c10::StreamId stream, BlockPool& pool,
                                const History::Context& context) {
  std::size_t bytes = segment_size(size);
  const RelaxedCapture relaxed;
  if (!may_grow(bytes)) return nullptr;
  void* address = nullptr;
  const RawAllocator* source = source_of(pool);
  if (source != nullptr) {
    bytes = size;
    address = source->allocate(bytes, device_, Enqueue(npu_stream(device_, stream)).handle());
    if (address == nullptr) return nullptr;
  }
  aclError code = source != nullptr ? ACL_SUCCESS : aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  if (code != ACL_SUCCESS && bytes > size) {
    bytes = size;  // a nearly full device may still have room for the block itself
    code = aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  }
  if (code == ACL_ERROR_RT_MEMORY_ALLOCATION || code == ACL_ERROR_BAD_ALLOC) return nullptr;
  acl_check(code, "aclrtMalloc");
  Block* block = add_block(static_cast<char*>(address), bytes, stream, pool);
  if (pool.owner != nullptr) ++pool.owner->segments;
  ++stats_.values.num_device_alloc;
  stats_.count(&Stats::segment, pool.type, 1);
  stats_.count(&Stats::reserved_bytes, pool.type, static_cast<std::int64_t>(bytes));
  if (bytes >= AcceleratorAllocatorConfig::max_split_size()) stats_.count_oversize(&Stats::oversize_segments, 1);
  block->segment_context = context;
  record(Action::SEGMENT_ALLOC, block, bytes, context);
  return block;
}

Block* DeviceCache::new_expandable_segment(c10::StreamId stream, BlockPool& pool) {
  // More addresses than memory, so that one segment suffices even with gaps.
  const std::size_t total = capacity();
  auto segment = ExpandableSegment::reserve(device_, total + total / 8, expandable_unit(pool.is_large()));
  if (segment == nullptr) return nullptr;
  Block* block = add_block(segment->base(), segment->size(), stream, pool);
  block->mapped = false;
  block->segment = segment.get();
  pool.unmapped.insert(block);
  expandable_.push_back(std::move(segment));
  stats_.count(&Stats::segment, pool.type, 1);
  return block;
}

Block* DeviceCache::find_gap(std::size_t size, c10::StreamId stream, const BlockPool& pool) const {
  for (Block* block : pool.unmapped) {
    if (block->stream == stream && free_before(block, size) + block->size >= size) return block;
  }
  return nullptr;
}

Block* DeviceCache::grow(std::size_t size, c10::StreamId stream, BlockPool& pool, const History::Context& context) {
  Block* gap = find_gap(size, stream, pool);
  if (gap == nullptr) gap = new_expandable_segment(stream, pool);
  if (gap == nullptr) return new_segment(size, stream, pool, context);  // the device has no addresses left
  ExpandableSegment& segment = *gap->segment;
  const std::size_t before = free_before(gap, size);
  const std::size_t bytes = round_up(size - before, segment.unit());
  if (bytes > gap->size || !may_grow(bytes) || !segment.map(gap->address, bytes)) return nullptr;

  pool.unmapped.erase(gap);
  if (gap->size > bytes) pool.unmapped.insert(split(gap, bytes));
  gap->mapped = true;
  ++stats_.values.num_device_alloc;
  stats_.count(&Stats::reserved_bytes, pool.type, static_cast<std::int64_t>(bytes));
  if (before == 0) gap->segment_context = context;
  record(Action::SEGMENT_MAP, gap, bytes, context);
  if (before == 0) return gap;
  Block* head = gap->previous;
  remove_free(head);
  absorb_next(head);
  return head;
}

void DeviceCache::release_free_memory() {
  // Queued work may still access a block that the host has freed; only stream order protected it.
  wait_for_device(device_);
  coalesce_small_blocks();
  release_free_blocks(small_);
  release_free_blocks(large_);
  for (const auto& [id, pool] : private_pools_) {
    if (pool->use_count > 0) continue;
    release_free_blocks(pool->small);
    release_free_blocks(pool->large);
  }
  erase_dead_pools();
}

void DeviceCache::release_free_blocks(BlockPool& pool) {
  const std::vector<Block*> blocks(pool.free.begin(), pool.free.end());
  for (Block* block : blocks) {
    if (block->segment != nullptr) {
      remove_free(block);
      unmap(block);
    } else if (!block->is_split()) {
      remove_free(block);
      release_segment(block);
    }
  }
}

void DeviceCache::collect_garbage() {
  const double threshold = AcceleratorAllocatorConfig::garbage_collection_threshold();
  if (threshold <= 0) return;
  const auto allowed = static_cast<std::int64_t>(threshold * static_cast<double>(limit()));
  if (stats_.values.reserved_bytes[0].current <= allowed) return;
  std::vector<Block*> old;
  for (Block* block : large_.free) {
    if (!block->is_split() && block->segment == nullptr) old.push_back(block);
  }
  release_oldest(std::move(old), allowed);
}

Block* DeviceCache::reclaim(std::size_t size, c10::StreamId stream, BlockPool& pool) {
  if (!events_.empty()) {
    process_events(true);
    if (Block* block = find(size, stream, pool)) return block;
  }
  // grow() will extend the free block before this gap.
  const Block* gap = find_gap(size, stream, pool);
  const std::size_t kept = gap == nullptr ? 0 : free_before(gap, size);
  std::vector<Block*> old;
  for (const BlockPool* free : {&small_, &large_}) {
    for (Block* block : free->free) {
      if (is_releasable(block) && (kept == 0 || block != gap->previous)) old.push_back(block);
    }
  }
  release_oldest(std::move(old), stats_.values.reserved_bytes[0].current - static_cast<std::int64_t>(size - kept));
  return nullptr;
}

bool DeviceCache::is_releasable(const Block* block) {
  if (block->segment == nullptr) return !block->is_split();
  const auto start = static_cast<std::size_t>(block->address - block->segment->base());
  const std::size_t unit = block->segment->unit();
  return round_up(start, unit) + unit <= start + block->size;
}

void DeviceCache::release_oldest(std::vector<Block*> blocks, std::int64_t target) {
  if (blocks.empty()) return;
  std::sort(blocks.begin(), blocks.end(), [](const Block* a, const Block* b) { return a->freed_at < b->freed_at; });
  wait_for_device(device_);  // queued work may still access them
  for (Block* block : blocks) {
    if (stats_.values.reserved_bytes[0].current <= target) return;
    remove_free(block);
    if (block->segment == nullptr) {
      release_segment(block);
    } else {
      unmap(block);
    }
  }
}

void DeviceCache::release_segment(Block* block) {
  const auto type = block->pool->type;
  record(Action::SEGMENT_FREE, block, block->size);
  if (const RawAllocator* source = source_of(*block->pool)) {
    source->release(block->address, block->size, device_, Enqueue(npu_stream(device_, block->stream)).handle());
  } else {
    acl_warn(aclrtFree(block->address), "aclrtFree");
  }
  if (block->pool->owner != nullptr) --block->pool->owner->segments;
  ++stats_.values.num_device_free;
  stats_.count(&Stats::segment, type, -1);
  stats_.count(&Stats::reserved_bytes, type, -static_cast<std::int64_t>(block->size));
  if (block->size >= AcceleratorAllocatorConfig::max_split_size()) {
    stats_.count_oversize(&Stats::oversize_segments, -1);
  }
  blocks_.erase(block->address);
}

void DeviceCache::unmap(Block* block) {
  ExpandableSegment& segment = *block->segment;
  BlockPool& pool = *block->pool;
  const auto start = static_cast<std::size_t>(block->address - segment.base());
  const std::size_t first = round_up(start, segment.unit());
  const std::size_t last = (start + block->size) / segment.unit() * segment.unit();
  if (first >= last) {
    insert_free(block);
    return;
  }
  if (first > start) {
    Block* rest = split(block, first - start);
    insert_free(block);
    block = rest;
  }
  if (block->size > last - first) insert_free(split(block, last - first));
  record(Action::SEGMENT_UNMAP, block, block->size);
  segment.unmap(block->address, block->size);
  ++stats_.values.num_device_free;
  stats_.count(&Stats::reserved_bytes, pool.type, -static_cast<std::int64_t>(block->size));
  block->mapped = false;
  if (Block* next = block->next; next != nullptr && !next->mapped) {
    pool.unmapped.erase(next);
    absorb_next(block);
  }
  if (Block* previous = block->previous; previous != nullptr && !previous->mapped) {
    pool.unmapped.erase(previous);
    absorb_next(previous);
    block = previous;
  }
  if (block->is_split()) {
    pool.unmapped.insert(block);
    return;
  }
  stats_.count(&Stats::segment, pool.type, -1);
  blocks_.erase(block->address);
  std::erase_if(expandable_, [&](const auto& owned) { return owned.get() == &segment; });
}

}  // namespace torch_npu
