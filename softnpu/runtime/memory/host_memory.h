#pragma once
// Pinned host memory: asynchronous copies may access it after the call has returned.

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

  // Registers the program's own memory until remove(). It must not overlap a registered block.
  Status add(void* address, size_t size);
  Status remove(void* address);

  // Whether [address, address + size) is within one live block; `size` may be 0.
  bool contains(const void* address, size_t size) const;

 private:
  struct FreeDeleter {
    void operator()(void* p) const;
  };
  struct Block {
    std::unique_ptr<void, FreeDeleter> memory;  // null for the program's own memory
    size_t size = 0;
  };

  mutable std::mutex mutex_;  // guards blocks_
  std::map<const char*, Block> blocks_;
};

}  // namespace softnpu
