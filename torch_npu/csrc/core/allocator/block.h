#pragma once
// A piece of a segment of device memory, and the pools of free pieces.

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Stream.h>

#include <array>
#include <memory>
#include <set>
#include <unordered_set>
#include <vector>

namespace torch_npu {

// Every block's size is a multiple of it.
constexpr std::size_t kMinBlock = 512;

struct Block;
struct PrivatePool;
class ExpandableSegment;

// By (stream, size, address), so that lower_bound finds the best fit.
struct BySize {
  bool operator()(const Block* a, const Block* b) const;
};

struct ByAddress {
  bool operator()(const Block* a, const Block* b) const;
};

// The free blocks of one kind.
struct BlockPool {
  explicit BlockPool(c10::CachingAllocator::StatType type, PrivatePool* owner = nullptr) : type(type), owner(owner) {}
  bool is_large() const { return type == c10::CachingAllocator::StatType::LARGE_POOL; }

  const c10::CachingAllocator::StatType type;  // small or large
  PrivatePool* const owner;                    // null for the device's own pools
  std::set<Block*, BySize> free;
  std::set<Block*, ByAddress> unmapped;  // parts of expandable segments without memory
};

struct Block {
  c10::StreamId stream = 0;
  std::size_t size = 0;
  std::size_t requested = 0;
  char* address = nullptr;
  BlockPool* pool = nullptr;
  bool allocated = false;
  bool mapped = true;              // false: addresses of an expandable segment without memory
  bool is_free = false;            // in its pool's free blocks
  bool is_in_small_cache = false;  // free, but not coalesced: see SmallBlockCache
  Block* previous = nullptr;       // neighbours in the same segment
  Block* next = nullptr;
  ExpandableSegment* segment = nullptr;                   // null if aclrtMalloc made the segment
  std::uint64_t freed_at = 0;                             // increases with each freed block: identifies the oldest
  std::shared_ptr<c10::GatheredContext> context;          // stack of the allocation, if the history records it
  std::shared_ptr<c10::GatheredContext> segment_context;  // stack that created the segment; in its first block
  std::unordered_set<c10::StreamId> other_streams;        // set by recordStream
  int pending_events = 0;                                 // events that must pass before it is free

  bool is_split() const { return previous != nullptr || next != nullptr; }
};

inline bool ByAddress::operator()(const Block* a, const Block* b) const { return a->address < b->address; }

inline bool BySize::operator()(const Block* a, const Block* b) const {
  if (a->stream != b->stream) return a->stream < b->stream;
  if (a->size != b->size) return a->size < b->size;
  return a->address < b->address;
}

// Recently freed small blocks of each size, reused without coalescing: programs repeatedly free and create tensors of a
// few sizes, and coalescing and splitting blocks would be most of the cost. A new segment is made after coalescing.
class SmallBlockCache {
 public:
  static constexpr std::size_t kMaxSize = 64 << 10;

  // A block of exactly `size` bytes that `stream` freed; null if there is none.
  Block* take(std::size_t size, c10::StreamId stream) {
    if (size > kMaxSize) return nullptr;
    auto& bin = bins_[size / kMinBlock - 1];
    if (bin.empty() || bin.back()->stream != stream) return nullptr;
    Block* block = bin.back();
    bin.pop_back();
    block->is_in_small_cache = false;
    return block;
  }

  // False if the block is too large or its bin is full.
  bool put(Block* block) {
    if (block->size > kMaxSize) return false;
    auto& bin = bins_[block->size / kMinBlock - 1];
    if (bin.size() >= std::clamp<std::size_t>(kBinBytes / block->size, 2, kDepth)) return false;
    bin.push_back(block);
    block->is_in_small_cache = true;
    return true;
  }

  // Calls body(block) for each block, which leaves.
  template <typename Body>
  void drain(const Body& body) {
    for (auto& bin : bins_) {
      while (!bin.empty()) {
        Block* block = bin.back();
        bin.pop_back();
        block->is_in_small_cache = false;
        body(block);
      }
    }
  }

 private:
  // The most blocks of a bin, and bytes.
  static constexpr std::size_t kDepth = 64;
  static constexpr std::size_t kBinBytes = 256 << 10;
  std::array<std::vector<Block*>, kMaxSize / kMinBlock> bins_;
};

}  // namespace torch_npu
