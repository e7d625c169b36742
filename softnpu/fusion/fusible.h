#pragma once
// What a task may be in a fusion group.

#include <cstddef>
#include <cstdint>

namespace softnpu {

class ElementwiseLoop;
class FusionRoot;

// The work of a task that may run fused with its neighbours in a stream. Immutable: several threads may run it.
class Fusible {
 public:
  Fusible() = default;
  Fusible(const Fusible&) = default;
  Fusible& operator=(const Fusible&) = delete;
  virtual ~Fusible() = default;

  // Exactly one of these is not null.
  virtual const ElementwiseLoop* as_loop() const { return nullptr; }
  virtual const FusionRoot* as_root() const { return nullptr; }
};

// Memory that a task reads or writes.
struct MemoryAccess {
  const char* begin;
  const char* end;
  // Element first + i is at begin + i * element_bytes; 0 where every element may read all of it, or where the prologue
  // writes it.
  uint32_t element_bytes;
  bool is_written;
  int64_t first = 0;
};

}  // namespace softnpu
