#pragma once
// The cache of one device: segments from aclrtMalloc, cut into blocks that are reused on the stream that freed them.

#include <acl/acl.h>

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/allocator/block.h"

namespace torch_npu {

class DeviceCache {
 public:
  explicit DeviceCache(c10::DeviceIndex device) : device_(device) {}

  // `size` > 0 bytes for use on `stream`. Throws c10::OutOfMemoryError with the pool's breakdown.
  void* allocate(std::size_t size, c10::StreamId stream);
  // `address` came from allocate(). Never throws.
  void release(void* address) noexcept;

  // The block may be reused only after what `stream` does now is done. False where `address` is not live here.
  bool record_stream(void* address, c10::StreamId stream);

  // Returns every free segment to the device.
  void empty();

  // The most that the cache may hold, as a part of the device's memory. Over it an allocation fails as on a full
  // device.
  void set_memory_fraction(double fraction);
  double memory_fraction() const;

  // Every segment with its blocks, by address. A stream is named by its id.
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> snapshot() const;

  c10::CachingDeviceAllocator::DeviceStats stats() const;
  void reset_accumulated_stats();
  void reset_peak_stats();

 private:
  using Stats = c10::CachingDeviceAllocator::DeviceStats;
  using StatField = c10::CachingAllocator::StatArray Stats::*;

  Block* find_free(std::size_t size, c10::StreamId stream, BlockPool& pool);
  // Whether `bytes` more fit below the fraction that the process may use.
  bool may_grow(std::size_t bytes) const;
  Block* new_segment(std::size_t size, c10::StreamId stream, BlockPool& pool);
  void split(Block* block, std::size_t size);
  void make_free(Block* block);
  // Joins a free block with its free neighbours and puts it into its pool.
  void settle(Block* block);
  // Settles all blocks that rest in the quick bins.
  void settle_resting();
  // Put a block into its pool or take it out, with the statistics of split blocks.
  void insert_free(Block* block);
  void remove_free(Block* block);
  // Counts a free block among the split ones, or takes it out again.
  void count_split(const Block* block, std::int64_t sign);
  // Joins the block behind `block`, which is in no pool, to it.
  void absorb_next(Block* block);
  void release_free_segments();
  void insert_events(Block* block);
  void process_events(bool wait);
  [[noreturn]] void throw_out_of_memory(std::size_t size);
  void count(StatField field, const BlockPool& pool, std::int64_t amount);

  const c10::DeviceIndex device_;
  mutable std::mutex mutex_;  // guards all below
  BlockPool small_{c10::CachingAllocator::StatType::SMALL_POOL};
  BlockPool large_{c10::CachingAllocator::StatType::LARGE_POOL};
  std::unordered_map<void*, std::unique_ptr<Block>> blocks_;  // every block, free or not, by address
  std::deque<std::pair<aclrtEvent, Block*>> events_;          // oldest first
  QuickBins quick_;
  double fraction_ = 1;
  Stats stats_;
};

}  // namespace torch_npu
