#pragma once
// A piece of a segment of device memory, and the pools of free ones.

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Stream.h>

#include <array>
#include <set>
#include <unordered_set>
#include <vector>

namespace torch_npu {

// Every block's size is a multiple of it.
constexpr std::size_t kMinBlock = 512;

struct Block;

struct BlockLess {
  bool operator()(const Block* a, const Block* b) const;
};

// Free blocks of one kind, by (stream, size, address), so that lower_bound finds the best fit.
struct BlockPool {
  explicit BlockPool(c10::CachingAllocator::StatType type) : type(type) {}
  const c10::CachingAllocator::StatType type;  // small or large
  std::set<Block*, BlockLess> free;
};

struct Block {
  c10::StreamId stream = 0;
  std::size_t size = 0;
  std::size_t requested = 0;
  char* address = nullptr;
  BlockPool* pool = nullptr;
  bool allocated = false;
  bool is_resting = false;    // free, but not joined with its neighbours: see QuickBins
  Block* previous = nullptr;  // neighbours in the same segment
  Block* next = nullptr;
  std::unordered_set<c10::StreamId> other_streams;  // set by recordStream
  int pending_events = 0;                           // marks that must pass before it is free

  bool is_split() const { return previous != nullptr || next != nullptr; }
};

inline bool BlockLess::operator()(const Block* a, const Block* b) const {
  if (a->stream != b->stream) return a->stream < b->stream;
  if (a->size != b->size) return a->size < b->size;
  return a->address < b->address;
}

// The newest small blocks of each size, handed out again as they are: programs free and make tensors of the same few
// sizes all the time, and joining and cutting blocks is most of what that would cost.
class QuickBins {
 public:
  static constexpr std::size_t kMaxSize = 4096;

  // A block of exactly `size` bytes that `stream` freed; null where there is none.
  Block* take(std::size_t size, c10::StreamId stream) {
    if (size > kMaxSize) return nullptr;
    auto& bin = bins_[size / kMinBlock - 1];
    if (bin.empty() || bin.back()->stream != stream) return nullptr;
    Block* block = bin.back();
    bin.pop_back();
    block->is_resting = false;
    return block;
  }

  // False where the block is too large or its bin is full.
  bool put(Block* block) {
    if (block->size > kMaxSize) return false;
    auto& bin = bins_[block->size / kMinBlock - 1];
    if (bin.size() == kDepth) return false;
    bin.push_back(block);
    block->is_resting = true;
    return true;
  }

  // Any block, or null once all bins are empty.
  Block* drain() {
    for (auto& bin : bins_) {
      if (bin.empty()) continue;
      Block* block = bin.back();
      bin.pop_back();
      block->is_resting = false;
      return block;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kDepth = 64;
  std::array<std::vector<Block*>, kMaxSize / kMinBlock> bins_;
};

}  // namespace torch_npu
