#pragma once
// The blocks that allocators on top of aclrtMalloc hand out: what checked mode of kernels knows of tensors. Kept only
// where kernels are checked.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/memory/written_memory.h"

namespace softnpu {

struct MemoryBlock {
  uint64_t begin;
  uint64_t bytes;     // as asked for
  const char* label;  // or null; never freed
  bool is_live;       // false: taken back, and no other block is there since
  uint64_t number;    // of all blocks that were handed out

  uint64_t end() const { return begin + bytes; }
};

class MemoryBlocks {
 public:
  using List = std::vector<MemoryBlock>;  // by address; none overlaps another

  // The process's; never destroyed.
  static MemoryBlocks& get();

  // Whether the process checks its kernels. Otherwise nothing is kept.
  bool is_on() const { return is_on_; }

  void allocated(const void* address, size_t bytes, const char* label) noexcept;
  void freed(const void* address) noexcept;
  // The memory of these blocks is released.
  void forget(const void* base, size_t bytes) noexcept {
    if (is_on_) [[unlikely]]
      erase(base, bytes);
  }
  // Something writes [address, address + bytes).
  void written(const void* address, size_t bytes) noexcept {
    if (is_on_) [[unlikely]]
      note_written(address, bytes);
  }
  // Of [begin, end), as far as it is in one block that was live in `snapshot` and is now: the end of what is written
  // from its begin on, and the first byte that is not, or 0. What is in no such block counts as written.
  std::pair<uint64_t, uint64_t> find_unwritten(const List& snapshot, uint64_t begin, uint64_t end) noexcept;
  // The blocks of this moment; null where there are none.
  std::shared_ptr<const List> snapshot() noexcept;

 private:
  template <typename T>
  friend class NoDestroy;
  MemoryBlocks();

  void note_written(const void* address, size_t bytes) noexcept;
  void erase(const void* base, size_t bytes) noexcept;
  // The list, to be changed; a copy where a snapshot has it. The lock is held.
  List& changeable();
  // Out of host memory: a list with gaps would call live tensors free. The lock is held.
  void give_up() noexcept;

  const bool is_on_;
  std::mutex mutex_;  // guards all members below
  bool is_lost_ = false;
  bool is_shared_ = false;  // with a snapshot
  std::shared_ptr<List> list_;
  uint64_t handed_out_ = 0;
  WrittenMemory written_;  // since the blocks were handed out
  std::set<std::string, std::less<>> labels_;
};

}  // namespace softnpu
