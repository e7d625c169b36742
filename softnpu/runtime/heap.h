#pragma once
// Places allocations in a device's region: best fit, lowest address first, neighbours merged when freed. Freed pages
// stay with the process, since the first touch of a page is what costs.

#include <cstddef>
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
};

class Heap {
 public:
  // Borrows `region`, which must outlive it. `capacity` may be less than the region's size, which is rounded up.
  Heap(Region* region, size_t capacity);

  // `size` > 0. Small blocks are 512-byte aligned, blocks of 1 MiB and more start on a huge page.
  Status allocate(size_t size, void** out);

  // Fails where `address` is not the start of a live allocation.
  Status release(void* address);

  // The live allocation that holds `address`; false where there is none.
  bool find(const void* address, Allocation* out) const;

  size_t capacity() const { return capacity_; }
  size_t used() const;
  size_t peak() const;

  // Forgets every allocation (device reset).
  void clear();

 private:
  struct Block {
    size_t span = 0;       // bytes taken from the region
    size_t requested = 0;  // bytes asked for
  };

  void insert_free(size_t offset, size_t span);
  void erase_free(size_t offset, size_t span);

  Region* region_;
  size_t capacity_;
  mutable std::mutex mutex_;                          // guards all below
  std::map<size_t, Block> live_;                      // by offset
  std::map<size_t, size_t> free_by_offset_;           // offset -> span
  std::set<std::pair<size_t, size_t>> free_by_span_;  // (span, offset)
  size_t used_ = 0;
  size_t peak_ = 0;
};

}  // namespace softnpu
