#pragma once
// Places allocations in a device's region: best fit, lowest address first, neighbours merged when freed. Freed pages
// stay with the process, since the first touch of a page is what costs. With AddressSanitizer what is free is poisoned,
// and so are 256 bytes and more behind each allocation; the capacity counts as without.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "base/status.h"
#include "runtime/region.h"

namespace softnpu {

struct Allocation {
  void* base = nullptr;
  size_t size = 0;  // as it was asked for

  // From its beginning to `address`, which is not before it.
  size_t offset_of(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - static_cast<const char*>(base));
  }
  bool holds(const void* address, size_t count) const { return count <= size && offset_of(address) <= size - count; }
};

class Heap {
 public:
  // The memory that a region needs for `capacity` bytes: more than that where red zones take room of their own.
  static size_t region_size(size_t capacity);

  // Borrows `region`, which must outlive it. `capacity` may be less than the region's size, which is rounded up.
  Heap(Region* region, size_t capacity);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();

  // `size` > 0. Blocks of whole huge pages, and of four and more, start on one; others are 512-byte aligned: a gap
  // before each of them would be memory that nobody uses.
  Status allocate(size_t size, void** out);

  // Fails where `address` is not the start of a live allocation, and for no other reason: it allocates nothing.
  Status release(void* address);

  // The live allocation that holds `address`; false where there is none. Without a lock where this thread found the
  // same one last and none was made or freed since.
  bool find(const void* address, Allocation* out) const;

  size_t capacity() const { return capacity_; }
  size_t used() const;
  size_t peak() const;

  // Forgets every allocation (device reset).
  void clear();

 private:
  using FreeSpans = std::set<std::pair<size_t, size_t>>;  // (span, offset)
  struct Block {
    size_t span = 0;               // bytes of the region
    size_t requested = 0;          // bytes asked for; 0: the block is free
    FreeSpans::node_type as_free;  // its place among the free ones while it is not there
  };
  using Blocks = std::map<size_t, Block>;  // by offset, without gaps

  // A block that is neither in blocks_ nor among the free ones yet.
  static Blocks::node_type make_block(size_t offset, size_t span);
  void add_free(Blocks::iterator block);
  void take_free(Blocks::iterator block);
  // The blocks are about to change: what threads have found is found anew. mutex_ is held.
  void forget_found() { epoch_.store(next_epoch(), std::memory_order_release); }
  static uint64_t next_epoch();

  Region* region_;
  size_t capacity_;
  std::atomic<uint64_t> epoch_{next_epoch()};  // of the blocks; no two heaps share one. Written under mutex_
  mutable std::mutex mutex_;                   // guards all below
  Blocks blocks_;
  FreeSpans free_;
  size_t used_ = 0;
  size_t peak_ = 0;
};

}  // namespace softnpu
