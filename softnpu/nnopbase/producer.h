#pragma once
// Work that makes one tensor, which may be made somewhere else in memory where nobody sees the tensor itself: the
// sweeps that stand behind it go over it there.

#include <functional>
#include <vector>

#include "nnopbase/sweep.h"

namespace softnpu {

class Producer {
 public:
  virtual ~Producer() = default;

  // Where the tensor belongs, element behind element.
  virtual SweepMemory result() const = 0;
  // Appends what is read, and written beside the tensor; `workspace` is what make() gets.
  virtual void add_memory(const void* workspace, std::vector<SweepMemory>* to) const = 0;
  // Elements [first, last) are made, and not touched again.
  using Made = std::function<void(int64_t first, int64_t last)>;
  // Makes the tensor at `to`, which has room for the result and lies apart from what add_memory says, and calls `made`
  // for each element once, as soon as may be. Throws where it fails.
  virtual void make(void* workspace, char* to, const Made& made) const = 0;
};

}  // namespace softnpu
