#pragma once
// A convolution or matrix product that starts a fusion group: the loops behind it run on its result while that is in
// the cache. Where the result is dead afterwards it is written into another buffer of the group.

#include <functional>
#include <vector>

#include "fusion/fusible.h"

namespace softnpu {

class FusionRoot : public Fusible {
 public:
  const FusionRoot* as_root() const final { return this; }

  // The output tensor in memory: contiguous elements.
  virtual MemoryAccess output() const = 0;
  // Appends what it reads, and what it writes beside the output; `workspace` is what compute() gets.
  virtual void add_accesses(const void* workspace, std::vector<MemoryAccess>* to) const = 0;
  // Elements [first, last) are final.
  using OnReady = std::function<void(int64_t first, int64_t last)>;
  // Computes the output into `to`, a buffer of its size that overlaps nothing of add_accesses, and calls `on_ready` for
  // each element once, as early as it can. Throws on failure.
  virtual void compute(void* workspace, char* to, const OnReady& on_ready) const = 0;
};

}  // namespace softnpu
