#pragma once
// A piece of a segment of device memory, and the pools of free ones.

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Stream.h>

#include <set>
#include <unordered_set>

namespace torch_npu {

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

}  // namespace torch_npu
