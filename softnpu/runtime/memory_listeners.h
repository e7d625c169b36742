#pragma once
// Those who keep something beside the program's memory, and hear of what becomes of it.

#include <cstddef>
#include <cstdint>
#include <shared_mutex>

#include "base/small_vector.h"

namespace softnpu {

struct MemoryListener {
  // Nobody wants the bytes of this range any more.
  void (*released)(const void* base, size_t bytes);
  // The device is out of memory: give back what can be made again.
  void (*pressed)(int32_t device);
};

class MemoryListeners {
 public:
  // For as long as the process lives.
  void add(const MemoryListener& listener);
  void released(const void* base, size_t bytes) const;
  // False where nobody listens.
  bool pressed(int32_t device) const;

 private:
  using List = SmallVector<MemoryListener, 4>;

  // They are called without the lock, since they may free memory.
  List list() const;

  mutable std::shared_mutex mutex_;  // guards listeners_
  List listeners_;
};

}  // namespace softnpu
