#pragma once
// Shadow memory: which pipe wrote and read each byte last, under which clock, and whether it was written at all. One
// block's; used by its thread alone.

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ascendc/sanitizer/clock.h"

namespace softnpu::kernel::check {

enum class Access : uint8_t { kRead, kWrite, kForget };  // kForget: the bytes hold nothing any more

// Who accesses.
struct Accessor {
  Pipe pipe;
  uint32_t site;          // the instruction's line, as the caller numbers them
  const Clock* clock;     // the pipe's
  uint32_t scalar_epoch;  // of the scalar unit when it issued the instruction
};

// What an access found.
struct Finding {
  enum class Kind : uint8_t { kRace, kUninitialised };
  Kind kind;
  uint64_t address;  // of the first such byte
  uint32_t other_site;
  Pipe other_pipe;
  bool other_writes;
};

// Bytes that nothing accessed yet count as written.
class Shadow {
 public:
  // Appends to `findings` at most one of each kind, other site and other pipe.
  void access(Access access, uint64_t address, uint64_t bytes, const Accessor& who, std::vector<Finding>* findings);

 private:
  // A tree: a node is the state of all its bytes, or has 32 parts of equal size.
  using Node = uint32_t;  // a number of states_, or with kSplit of parts_
  static constexpr Node kSplit = 1u << 31;
  static constexpr int kPartBits = 5;
  static constexpr int kLevels = 3;  // a root has 32 KiB

  // Immutable once made.
  struct State {
    std::array<uint32_t, kPipes> read_epochs{};  // 0: none
    std::array<uint32_t, kPipes> read_sites{};
    uint32_t write_epoch = 0;
    uint32_t write_site = 0;
    Pipe writer = Pipe::kS;
    bool is_initialised = true;
    bool operator==(const State&) const = default;
  };
  struct Traversal;

  void visit(Node* node, int level, uint64_t first, Traversal* traversal);
  Node next_state(Node state, uint64_t address, Traversal* traversal);
  void find(const State& state, uint64_t address, Traversal* traversal) const;
  Node split(Node state);
  void compact();

  std::unordered_map<uint64_t, Node> roots_;
  std::vector<State> states_{State{}};
  std::vector<std::array<Node, 1 << kPartBits>> parts_;
  std::vector<uint32_t> free_parts_;
  size_t compact_at_ = 1 << 17;
};

}  // namespace softnpu::kernel::check
