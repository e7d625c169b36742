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

  // Whether [address, address + size) lies within one live block; `size` may be 0.
  bool contains(const void* address, size_t size) const;

 private:
  struct FreeDeleter {
    void operator()(void* p) const;
  };
  struct Block {
    std::unique_ptr<void, FreeDeleter> memory;
    size_t size = 0;
  };

  mutable std::mutex mutex_;  // guards blocks_
  std::map<const char*, Block> blocks_;
};

}  // namespace softnpu
