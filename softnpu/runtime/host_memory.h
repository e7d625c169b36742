#pragma once
// Host memory that asynchronous copies may read and write without the caller waiting (CANN's pinned memory).

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "base/status.h"

namespace softnpu {

class HostMemory {
 public:
  Status allocate(size_t size, void** out);
  Status release(void* address);

  // Memory of the program's own, from now until remove(). It overlaps nothing that is known already.
  Status add(void* address, size_t size);
  Status remove(void* address);

  // Whether [address, address + size) lies within one live block; `size` may be 0.
  bool contains(const void* address, size_t size) const;

 private:
  struct FreeDeleter {
    void operator()(void* p) const;
  };
  struct Block {
    std::unique_ptr<void, FreeDeleter> memory;  // null where it is the program's own
    size_t size = 0;
  };

  mutable std::mutex mutex_;  // guards blocks_
  std::map<const char*, Block> blocks_;
};

}  // namespace softnpu
