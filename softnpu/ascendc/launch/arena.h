#pragma once
// The local memories of the blocks that a thread runs, one after the other.

#include <cstddef>
#include <cstdint>

#include "softnpu_kernel/core.h"

namespace softnpu::kernel {

// Sizes of an Ascend 910B core's local memories, by LocalMemory.
inline constexpr size_t kLocalBytes[] = {192 << 10, 512 << 10, 64 << 10, 64 << 10, 128 << 10, 1 << 10, 2 << 10};

// Each memory ends where an inaccessible page begins.
class Arena {
 public:
  Arena();  // throws std::bad_alloc
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  void assign(Block* block) const;

 private:
  size_t pages(size_t bytes) const;  // rounded up to whole pages

  size_t page_;
  uint8_t* base_ = nullptr;
  size_t mapped_ = 0;
};

}  // namespace softnpu::kernel
