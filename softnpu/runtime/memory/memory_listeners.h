#pragma once
// Caches that hold device memory of their own. They are notified of frees and of memory pressure.

#include <cstddef>
#include <cstdint>
#include <shared_mutex>

#include "base/small_vector.h"

namespace softnpu {

struct MemoryListener {
  // The range was freed.
  void (*freed)(const void* base, size_t bytes);
  // The device is out of memory: release what can be computed again.
  void (*on_out_of_memory)(int32_t device);
};

class MemoryListeners {
 public:
  // Registered for the lifetime of the process.
  void add(const MemoryListener& listener);
  void freed(const void* base, size_t bytes) const;
  // False if there are no listeners.
  bool on_out_of_memory(int32_t device) const;

 private:
  using List = SmallVector<MemoryListener, 4>;

  // A copy: listeners are called without the lock, since they may free memory.
  List list() const;

  mutable std::shared_mutex mutex_;  // guards listeners_
  List listeners_;
};

}  // namespace softnpu
