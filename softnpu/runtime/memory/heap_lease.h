#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/memory/heap.h"

namespace softnpu {

// Keeps a block of the heap from reuse while it lives. The heap must outlive it.
class HeapLease {
 public:
  // Null if block `id`, which contains `offset`, is not live any more.
  static std::shared_ptr<const HeapLease> take(Heap& heap, size_t offset, uint64_t id) {
    auto lease = std::make_shared<HeapLease>(&heap, offset);
    lease->held_ = heap.hold(offset, id);
    return lease->held_ ? lease : nullptr;
  }

  HeapLease(Heap* heap, size_t offset) : heap_(heap), offset_(offset) {}
  HeapLease(const HeapLease&) = delete;
  HeapLease& operator=(const HeapLease&) = delete;
  ~HeapLease() {
    if (held_) heap_->unhold(offset_);
  }

 private:
  Heap* const heap_;
  const size_t offset_;
  bool held_ = false;
};

}  // namespace softnpu
