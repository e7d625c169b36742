#pragma once
// The parts of a core's local memories that queues and buffers were given, and whose tensors are in use. One block's;
// used by its thread alone.

#include <cstdint>
#include <map>
#include <optional>
#include <source_location>
#include <string>

#include "softnpu_kernel/core.h"

namespace softnpu::kernel::check {

// "add.cpp:12", without the folders.
std::string line_of(const std::source_location& where);

struct LocalBuffer {
  enum class State : uint8_t { kGiven, kLent, kFreed };
  uint64_t begin;
  uint64_t end;
  const void* owner;
  int position;  // among the owner's buffers, from 0
  State state = State::kGiven;
  std::source_location initialised;
  std::source_location lent;
  std::source_location freed;

  // "buffer 1 of the queue initialised at add.cpp:12, 2048 bytes at UB + 0x800, tensor allocated at add.cpp:20"
  std::string text(const Block& block) const;
};

class LocalBuffers {
 public:
  explicit LocalBuffers(const Block* block) : block_(block) {}

  // What is wrong with the event; empty where nothing is.
  std::string handle(LocalEvent event, const Memory& memory, const void* owner, const std::source_location& where);
  // The buffer that has the byte; null where none was given it.
  const LocalBuffer* find(uint64_t address) const;
  const std::map<uint64_t, LocalBuffer>& all() const { return buffers_; }

  // Which of the block's local memories has the byte: an index of Block::local.
  std::optional<int> memory_of(uint64_t address) const;
  // "UB + 0x40"
  std::string location(uint64_t address) const;

 private:
  const Block* block_;
  std::map<uint64_t, LocalBuffer> buffers_;  // by their begin
  mutable const LocalBuffer* last_ = nullptr;
};

}  // namespace softnpu::kernel::check
