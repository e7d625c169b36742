#include "runtime/memory/memory_listeners.h"

#include <mutex>

namespace softnpu {

void MemoryListeners::add(const MemoryListener& listener) {
  std::lock_guard lock(mutex_);
  listeners_.push_back(listener);
}

MemoryListeners::List MemoryListeners::list() const {
  std::shared_lock lock(mutex_);
  return listeners_;
}

void MemoryListeners::freed(const void* base, size_t bytes) const {
  for (const MemoryListener& listener : list()) listener.freed(base, bytes);
}

bool MemoryListeners::on_out_of_memory(int32_t device) const {
  const List listeners = list();
  for (const MemoryListener& listener : listeners) listener.on_out_of_memory(device);
  return !listeners.empty();
}

}  // namespace softnpu
