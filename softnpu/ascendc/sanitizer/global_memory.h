#pragma once
// Global memory, as blocks see it: allocations of device memory and the tensors in them, by the addresses at which
// kernels on the host read them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ascendc/sanitizer/launch_memory.h"

namespace softnpu::kernel::check {

// What a block knows of global memory; used by its thread alone.
class GlobalMemory {
 public:
  explicit GlobalMemory(LaunchMemory* launch) : launch_(launch) {}

  // How many of the `bytes` bytes from `address` on the block may touch: those in one live allocation, or in pinned
  // host memory; where the allocation is cut into tensors, those in one tensor that the kernel was given.
  uint64_t valid_bytes(uint64_t address, uint64_t bytes);
  // What an access to them is one to, where not all are valid: "96 bytes behind the end of a tensor of 4000 bytes".
  std::string problem(uint64_t address, uint64_t bytes) const;
  // "byte 16 of an allocation of 4096 bytes in global memory", or "global memory that is not allocated"; where the
  // allocation is cut into tensors, with the tensor. For reports: it asks many times.
  std::string text(uint64_t address) const;
  // The first of the bytes that are in a tensor and that nothing has written since it was allocated; 0: there is none.
  uint64_t first_unwritten(uint64_t address, uint64_t bytes);
  // The block writes the bytes.
  void write(uint64_t address, uint64_t bytes);
  // The tensor that an access from a tensor or from behind it gets into, and the given one that it may have been meant
  // for; empty where there is none.
  std::string neighbour(uint64_t address, uint64_t bytes) const;

 private:
  // Where a device address is among the tensors of its allocation.
  struct Location {
    enum class Kind : uint8_t { kNoTensors, kTensor, kNotGiven, kFreed, kBetween };
    Kind kind = Kind::kNoTensors;
    softnpuBlock tensor{};  // kBetween: the one before it, if any
    softnpuBlock behind{};  // the next
    uint64_t limit = 0;     // the end of what may be touched of `tensor`: its last unit of 32 bytes
  };
  Location location(uint64_t own) const;
  // The largest number of bytes of which `holds` is true, as it is of all smaller ones but 0.
  template <typename Holds>
  static uint64_t most(const Holds& holds);
  static std::string allocation_text(uint64_t own);

  LaunchMemory* const launch_;
  // What was found last: tiles of a few tensors are read one after the other.
  struct Known {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  std::array<Known, 4> known_{};
  size_t next_known_ = 0;
  std::array<Known, 4> written_{};  // what is known to be written
  size_t next_written_ = 0;
};

}  // namespace softnpu::kernel::check
