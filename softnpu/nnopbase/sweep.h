#pragma once
// Work that goes over memory element by element. Several such works that stand behind one another in a stream may go
// together, a piece of memory after the other, so that it stays in the cache between them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "acl/acl_base.h"

namespace softnpu {

// What a sweep touches.
struct SweepMemory {
  const char* begin;
  const char* end;
  size_t lane;
  // Element i of the lane lies at begin + i * element_bytes; 0 where every element may read all of it.
  uint32_t element_bytes;
  bool is_written;
};

class Sweep {
 public:
  virtual ~Sweep() = default;

  // Elements of each lane. Lanes are independent of one another.
  const std::vector<int64_t>& lanes() const { return lanes_; }
  // In the order of their beginnings, none twice.
  const std::vector<SweepMemory>& memory() const { return memory_; }

  // The elements [first, last) of a lane: any pieces, in any order, on any threads.
  virtual void run(size_t lane, int64_t first, int64_t last) const = 0;
  // All of `sweeps`, which may go together, with the threads that their work is worth.
  virtual void run_together(std::span<const Sweep* const> sweeps) const = 0;

 protected:
  void add_lane(int64_t count) { lanes_.push_back(count); }
  void touch(SweepMemory memory) { memory_.push_back(memory); }
  // After all of these.
  ACL_FUNC_VISIBILITY void seal();

 private:
  std::vector<int64_t> lanes_;
  std::vector<SweepMemory> memory_;
};

// How many of the first sweeps give the same bytes together as one after the other: their lanes are the same, and what
// one writes the others touch by the same elements, if at all. At least one.
ACL_FUNC_VISIBILITY size_t count_together(std::span<const Sweep* const> sweeps);

}  // namespace softnpu
