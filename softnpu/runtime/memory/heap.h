#pragma once
// Places allocations in a device's region: best fit, lowest address first; free neighbours are merged. Freed pages stay
// with the process, because the first touch of a page is expensive. Under AddressSanitizer free memory is poisoned, and
// so are at least 256 bytes after each allocation; they do not count against the capacity.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "base/status.h"
#include "runtime/memory/region.h"

namespace softnpu {

struct Allocation {
  void* base = nullptr;
  size_t size = 0;  // the requested size

  // Bytes from the allocation's start to `address`, which is not before it.
  size_t offset_of(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - static_cast<const char*>(base));
  }
  bool holds(const void* address, size_t count) const { return count <= size && offset_of(address) <= size - count; }
};

class Heap {
 public:
  // The memory that a region needs for `capacity` bytes: more than that if there are red zones.
  static size_t region_size(size_t capacity);

  // Borrows `region`, which must outlive it. `capacity` may be less than the region's size, which is rounded up.
  // `shown`, if not null, always has the value of used().
  Heap(Region* region, size_t capacity, std::atomic<uint64_t>* shown = nullptr);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();

  // `size` > 0. Blocks of whole huge pages, and of at least four, start on a huge page; others are 512-byte aligned,
  // since a gap before each of them would waste memory.
  Status allocate(size_t size, void** out);

  // Fails only if `address` is not the start of a live allocation: it allocates nothing.
  Status release(void* address);

  // Identifies the live block that contains `offset` of the region; no other block ever gets the same number. 0: none.
  uint64_t block_id(size_t offset) const;

  // Keeps the memory of block `id`, which contains `offset`, from reuse until unhold(): it stays in use after its
  // release and after clear(). False if that block is not live any more.
  bool hold(size_t offset, uint64_t id);
  // Undoes one hold() of the block that contains `offset`.
  void unhold(size_t offset);

  // The live allocation that contains `address`; false if there is none. Lock-free if this thread's last find() had the
  // same result and no block was allocated or freed since.
  bool find(const void* address, Allocation* out) const;

  size_t capacity() const { return capacity_; }
  size_t used() const;
  size_t peak() const;

  // Releases every allocation (device reset).
  void clear();

 private:
  using FreeSpans = std::set<std::pair<size_t, size_t>>;  // (span, offset)
  struct Block {
    size_t span = 0;               // bytes of the region
    size_t requested = 0;          // requested bytes
    uint64_t id = 0;               // 0: the block is not live
    uint32_t holds = 0;            // a block that is not live is free if nobody holds it
    FreeSpans::node_type as_free;  // its node in the free set, while it is not in there
  };
  using Blocks = std::map<size_t, Block>;  // by offset, without gaps

  // A block that is in neither blocks_ nor the free set yet.
  static Blocks::node_type make_block(size_t offset, size_t span);
  void add_free(Blocks::iterator block);
  void take_free(Blocks::iterator block);
  static bool is_free(const Block& block) { return block.id == 0 && block.holds == 0; }
  Blocks::iterator containing(size_t offset) { return std::prev(blocks_.upper_bound(offset)); }
  // Ends a live block's life. The result is the block that its bytes are in from now on.
  Blocks::iterator end_life(Blocks::iterator block);
  // Makes a block, which is neither live nor held, free, and merges it with free neighbours.
  Blocks::iterator give_back(Blocks::iterator block);
  // Invalidates the threads' cached results before blocks change. mutex_ is held.
  void forget_found() { epoch_.store(next_epoch(), std::memory_order_release); }
  static uint64_t next_epoch();

  // Sets used_. mutex_ is held.
  void set_used(size_t used) {
    used_ = used;
    if (shown_ != nullptr) shown_->store(used, std::memory_order_relaxed);
  }

  Region* region_;
  size_t capacity_;
  std::atomic<uint64_t>* const shown_;
  std::atomic<uint64_t> epoch_{next_epoch()};  // of the blocks; unique among all heaps. Written under mutex_
  mutable std::mutex mutex_;                   // guards all members below
  Blocks blocks_;
  FreeSpans free_;
  uint64_t last_id_ = 0;
  size_t used_ = 0;
  size_t peak_ = 0;
};

}  // namespace softnpu
