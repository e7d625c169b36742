#pragma once
// A loop over the elements of tensors. Consecutive loops of a stream are fused: all of them run on one tile of
// elements, then on the next, so that a tile stays in the cache between them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fusion/fusible.h"

namespace softnpu {

// With fewer elements a loop runs as fast as its description is made.
constexpr int64_t kMinLoopElements = 16384;

// Other buffers for a copy of a loop.
struct BufferRebinding {
  const void* input;  // the input that begins here ...
  char* new_input;    // ... is read here; null: inputs stay
  char* new_output;   // where the output is written; null: it stays
};

class ElementwiseLoop : public Fusible {
 public:
  const ElementwiseLoop* as_loop() const final { return this; }

  virtual int64_t count() const = 0;
  // What one element costs, in the operations of Plan::work.
  virtual double cost_per_element() const = 0;
  // Appends what it reads and writes.
  virtual void add_accesses(std::vector<MemoryAccess>* to) const = 0;
  // Does the work before the first element (the statistics of a normalization) and returns the loop to run; null where
  // there is none. Called once a run, before any element of the group. What it reads or writes has element_bytes 0.
  virtual std::unique_ptr<const ElementwiseLoop> prologue() const { return nullptr; }
  // The elements [first, last): any ranges, in any order, on any threads.
  virtual void run(int64_t first, int64_t last) const = 0;

  // The same loop over other buffers; input and output may then be one buffer. Not null where can_rebind().
  virtual bool can_rebind() const { return false; }
  virtual std::unique_ptr<const ElementwiseLoop> rebind(const BufferRebinding& /*rebinding*/) const { return nullptr; }
};

}  // namespace softnpu
