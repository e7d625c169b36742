#pragma once
// The cache of one device: segments of its memory, split into blocks that are reused on the stream that freed them.

#include <acl/acl.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/allocator/block.h"
#include "core/allocator/expandable_segment.h"
#include "core/allocator/history.h"
#include "core/allocator/mem_pool.h"
#include "core/allocator/statistics.h"
#include "core/memory_blocks.h"

namespace torch_npu {

class DeviceCache {
 public:
  explicit DeviceCache(c10::DeviceIndex device) : device_(device) {}

  // `size` > 0 bytes for use on `stream`. Throws c10::OutOfMemoryError with the pool's statistics.
  void* allocate(std::size_t size, c10::StreamId stream);
  // `address` came from allocate(). Never throws.
  void release(void* address) noexcept;
  // Whether allocate() returned `address` and it was not released.
  bool is_live(void* address) const;

  // The block may be reused only after the current work of `stream` is done. False if `address` is not live here.
  bool record_stream(void* address, c10::StreamId stream);

  // Undoes record_stream(). False if `address` is not live here.
  bool erase_stream(void* address, c10::StreamId stream);

  // Returns every free segment, and free memory of expandable ones, to the device.
  void empty();

  // Private pools: see mem_pool.h. An allocation takes the pool that is active in its thread.
  void use_pool(c10::MempoolId_t id, const MemPoolOptions& options);
  void release_pool(c10::MempoolId_t id);
  int pool_use_count(c10::MempoolId_t id) const;
  void empty_pool(c10::MempoolId_t id);
  void begin_capture(c10::MempoolId_t id, IsCaptured is_captured);
  void end_capture(c10::MempoolId_t id);

  // The limit of the cache as a fraction of the device's memory. Above it an allocation fails as on a full device.
  void set_memory_fraction(double fraction);
  double memory_fraction() const;

  // Every segment with its blocks, by address. A stream is named by its id.
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> snapshot();
  std::vector<History::Entry> history() const;
  void record_history(const HistorySettings& settings);

  // The range to be shared with another process for the live block at `address`.
  std::pair<char*, std::size_t> shareable(void* address) const;

  Statistics::Values statistics() const;
  void reset_accumulated_stats();
  void reset_peak_stats();

 private:
  using Stats = Statistics::Values;
  using Action = History::Entry::Action;

  // --- search: device_cache.cpp ---
  Block* find(std::size_t size, c10::StreamId stream, BlockPool& pool);
  Block* find_free(std::size_t size, c10::StreamId stream, BlockPool& pool);
  // The pool for blocks of `size` bytes: the thread's private one, or the device's.
  BlockPool& pool_for(std::size_t size, c10::StreamId stream);
  // Tries everything to get `size` bytes if no free block fits; null if the device is full.
  Block* obtain(std::size_t size, c10::StreamId stream, BlockPool& pool, const History::Context& context);
  void take(Block* block, std::size_t size, std::size_t requested, History::Context context);
  bool is_worth_splitting(const Block* block, std::size_t size) const;
  // Splits `block` after `size` bytes and returns the rest, which has the block's state (free or unmapped).
  Block* split(Block* block, std::size_t size);
  void make_free(Block* block);
  // Coalesces a free block with its free neighbours and puts it into its pool.
  void coalesce(Block* block);
  // Coalesces all blocks in the small-block caches.
  void coalesce_small_blocks();
  // Adds a block to its pool or removes it, and updates the statistics of split blocks.
  void insert_free(Block* block);
  void remove_free(Block* block);
  // Adds a free block to the statistics of split blocks, or removes it.
  void count_split(const Block* block, std::int64_t sign);
  // Merges the block after `block`, which is in no pool, into it.
  void absorb_next(Block* block);
  void insert_events(Block* block);
  // Frees the blocks whose events have passed; with `wait` waits for all events.
  void process_events(bool wait);
  [[noreturn]] void throw_out_of_memory(std::size_t size);
  void record(Action action, const Block* block, std::size_t size, History::Context context = nullptr);
  void report(const Block* block, std::int64_t size) const;

  // --- memory of the device: device_memory.cpp ---
  // Whether `bytes` more stay below the fraction that the process may use.
  bool may_grow(std::size_t bytes) const;
  Block* new_segment(std::size_t size, c10::StreamId stream, BlockPool& pool, const History::Context& context);
  // A free block of at least `size` bytes, made by mapping more of an expandable segment.
  Block* grow(std::size_t size, c10::StreamId stream, BlockPool& pool, const History::Context& context);
  // Addresses of an expandable segment that can grow to a block of `size` bytes; null if there are none.
  Block* find_gap(std::size_t size, c10::StreamId stream, const BlockPool& pool) const;
  // Waits for blocks that other streams used and, if none of them fits, releases so much free memory, the oldest first,
  // that the cache needs to grow less or not at all. The block that fits; null if there is none.
  Block* reclaim(std::size_t size, c10::StreamId stream, BlockPool& pool);
  Block* new_expandable_segment(c10::StreamId stream, BlockPool& pool);
  Block* add_block(char* address, std::size_t size, c10::StreamId stream, BlockPool& pool);
  void release_free_memory();
  void release_free_blocks(BlockPool& pool);
  // Returns the memory of unused private pools, and without caching all free memory, unless the device is busy.
  void release_deferred();
  // Forgets pools that have neither users nor segments.
  void erase_dead_pools();
  // Releases the oldest free segments until the cache is below garbage_collection_threshold.
  void collect_garbage();
  void release_segment(Block* block);
  // Whether memory of this free block can be returned to the device.
  static bool is_releasable(const Block* block);
  // Releases these free blocks, the oldest first, while more than `target` bytes are reserved. Waits for the device if
  // there are any.
  void release_oldest(std::vector<Block*> blocks, std::int64_t target);
  // Unmaps the whole units that a free block covers. The block is in no pool; its remaining parts are.
  void unmap(Block* block);
  std::size_t limit() const;

  const c10::DeviceIndex device_;
  const bool tracks_blocks_ = tracks_blocks();
  mutable std::mutex mutex_;  // guards all members below
  BlockPool small_{c10::CachingAllocator::StatType::SMALL_POOL};
  BlockPool large_{c10::CachingAllocator::StatType::LARGE_POOL};
  std::map<c10::MempoolId_t, std::unique_ptr<PrivatePool>> private_pools_;
  std::unordered_map<void*, std::unique_ptr<Block>> blocks_;  // every block, by address
  std::vector<std::unique_ptr<ExpandableSegment>> expandable_;
  // One queue per stream, oldest first, so that a slow stream does not delay other streams' blocks. Empty queues are
  // erased.
  std::map<c10::StreamId, std::deque<std::pair<aclrtEvent, Block*>>> events_;
  SmallBlockCache small_blocks_;
  std::uint64_t clock_ = 0;  // for freed_at
  double fraction_ = 1;
  std::vector<std::pair<c10::MempoolId_t, IsCaptured>> captures_;
  std::vector<Block*> freed_in_capture_;  // blocks that wait for events, which captured streams do not record
  bool has_deferred_ = false;             // release_deferred() has something to return
  Statistics stats_;
  History history_;  // its switch is read without the lock
};

}  // namespace torch_npu
