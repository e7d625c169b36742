#pragma once
// Work that goes over memory element by element. Several such works that stand behind one another in a stream may go
// together, a piece of memory after the other, so that it stays in the cache between them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "acl/acl_base.h"

namespace softnpu {

// Fewer elements are gone over as fast as a sweep of them is made.
constexpr int64_t kLeastSweep = 8192;

// What a sweep touches.
struct SweepMemory {
  const char* begin;
  const char* end;
  // Element first + i lies at begin + i * element_bytes; 0 where every element may read all of it, or where it is
  // written before the first element (Sweep::prepared).
  uint32_t element_bytes;
  bool is_written;
  int64_t first = 0;
};

// Where a sweep goes over other memory than its own.
struct SweepMove {
  const void* read;  // what begins here is read
  char* read_at;     // there instead; null: nothing moves
  char* written_at;  // where the result goes; null: to its own place
};

class Sweep {
 public:
  virtual ~Sweep() = default;

  // Its elements.
  virtual int64_t count() const = 0;
  // Appends what it touches.
  virtual void add_memory(std::vector<SweepMemory>* to) const = 0;
  // The sweep that run() is called of, with what has to be known before the first element; null: it is this one. Asked
  // once a run, before any element of those that go together. What is read or written here has element_bytes 0.
  virtual std::unique_ptr<const Sweep> prepared() const { return nullptr; }
  // The elements [first, last): any pieces, in any order, on any threads.
  virtual void run(int64_t first, int64_t last) const = 0;
  // The elements [first, last) of all of `sweeps`, which are prepared and may go together, with the threads that this
  // work is worth.
  virtual void run_together(std::span<const Sweep* const> sweeps, int64_t first, int64_t last) const = 0;

  // The same sweep over memory that is moved; its elements may then be read and written in one place. Not null where
  // may_move().
  virtual bool may_move() const { return false; }
  virtual std::unique_ptr<const Sweep> moved(const SweepMove& /*move*/) const { return nullptr; }
};

// How many of the first sweeps give the same bytes together as one after the other: they have as many elements, and
// what one writes the others touch by the same elements, if at all. At least one.
ACL_FUNC_VISIBILITY size_t count_together(std::span<const Sweep* const> sweeps);

}  // namespace softnpu
