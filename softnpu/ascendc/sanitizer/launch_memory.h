#pragma once
// The memory that a launch may touch: the blocks that allocators had handed out when it was launched, and which of them
// its arguments lead to.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "softnpu/memory_blocks.h"

namespace softnpu::kernel::check {

class LaunchMemory {
 public:
  // By the launching thread. `arguments` stay as long as this.
  LaunchMemory(const void* arguments, size_t bytes);

  // The device address of an address at which kernels on the host read; others stay as they are.
  uint64_t device_address(uint64_t address) const;
  // Whether [address, address + bytes), a device address, is in one live allocation, or in pinned host memory.
  static bool is_valid(uint64_t address, uint64_t bytes);
  // How many of the `most` bytes from `address` on are.
  static uint64_t valid_bytes(uint64_t address, uint64_t most);

  // See softnpuFindBlock.
  bool find(uint64_t address, softnpuBlock* before, softnpuBlock* behind) const;

  // See softnpuFirstUnwritten.
  const void* first_unwritten(uint64_t address, uint64_t bytes, const void** written_until) const;

  // Whether the kernel can know of the live block: an argument points into it, or a word of memory that an argument
  // points to does, or a word of that. Any thread.
  bool is_given(const softnpuBlock& block);
  // The last given block that begins before `address`; one without an address where there is none.
  softnpuBlock given_before(uint64_t address);

 private:
  struct Release {
    void operator()(softnpuBlocks* blocks) const { softnpuReleaseBlocks(blocks); }
  };
  struct Device {
    uint64_t begin;  // of its addresses
    uint64_t end;
    uint64_t offset;  // from there to those of kernels
  };
  struct Range {
    uint64_t begin;
    uint64_t end;
  };
  const Device* device_of(uint64_t address) const;
  // Adds the blocks that words of the memory at `words` point into to `given`, and what is pointed to to `ranges`; of
  // arguments, pinned memory of the host, too.
  void follow(const unsigned char* words, size_t bytes, bool are_arguments, std::set<uint64_t>* given,
              std::vector<Range>* ranges) const;
  // The same of the memory in `ranges`, of what that points to, and so on.
  void follow_all(std::vector<Range> ranges, std::set<uint64_t>* given) const;

  const unsigned char* const arguments_;
  const size_t argument_bytes_;
  std::vector<Device> devices_;
  const std::unique_ptr<softnpuBlocks, Release> blocks_;
  std::mutex mutex_;            // guards all members below
  std::set<uint64_t> given_;    // begins of blocks
  std::set<uint64_t> refused_;  // those that were asked for and nothing leads to
};

}  // namespace softnpu::kernel::check
