#pragma once
// Allocations of device memory, as blocks see them: by the addresses at which kernels on the host read it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace softnpu::kernel::check {

// What a block knows of the allocations; used by its thread alone.
class GlobalMemory {
 public:
  GlobalMemory();

  // How many of the `bytes` bytes from `address` on are in one live allocation, or in pinned host memory.
  uint64_t valid_bytes(uint64_t address, uint64_t bytes);
  // "byte 16 of an allocation of 4096 bytes in global memory", or "global memory that is not allocated". For reports:
  // it asks many times.
  std::string text(uint64_t address) const;

 private:
  // The largest number of bytes of which `holds` is true, as it is of all smaller ones but 0.
  template <typename Holds>
  static uint64_t most(const Holds& holds);
  bool is_valid(uint64_t address, uint64_t bytes) const;

  struct Device {
    uint64_t begin;  // of its addresses
    uint64_t end;
    uint64_t offset;  // from there to those of kernels
  };
  std::vector<Device> devices_;
  // What was found last: tiles are read one after the other.
  uint64_t known_begin_ = 0;
  uint64_t known_end_ = 0;
};

}  // namespace softnpu::kernel::check
