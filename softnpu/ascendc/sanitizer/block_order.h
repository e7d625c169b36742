#pragma once
// In what order the blocks of a launch are: SyncAll and signals cut each block into segments, and say which segments
// end before others begin. Not synchronised: its owner is.

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace softnpu::kernel::check {

class BlockOrder {
 public:
  using Signal = std::pair<uint32_t, uint32_t>;  // block and event of IBSet and IBWait
  // A number; a block's segments follow each other.
  using Segment = uint32_t;

  explicit BlockOrder(uint32_t blocks) { add_blocks(blocks); }
  void add_blocks(uint32_t count);

  // The segment of `block` that goes on now, and its phase: how many SyncAll the block has passed.
  Segment current(uint32_t block) const { return current_[block]; }
  uint32_t phase(Segment segment) const { return nodes_[segment].phase; }
  uint32_t blocks() const { return static_cast<uint32_t>(current_.size()); }
  uint32_t block(Segment segment) const { return nodes_[segment].block; }

  // Each ends the block's segment and begins its next one.
  void sync_all(uint32_t block);
  void set(uint32_t block, const Signal& signal);
  // Behind the wait; takes the oldest set. Waits without a set order nothing.
  void wait(uint32_t block, const Signal& signal);

  // Whether one of the two, which are of different blocks, ends before the other begins.
  bool is_ordered(Segment a, Segment b) const;

 private:
  static constexpr Segment kNone = ~0u;
  struct Node {
    uint32_t block;
    uint32_t phase;
    Segment before[2];  // of the same block, and that of the signal
  };
  void begin(uint32_t block, uint32_t phase, Segment same_block, Segment other_block);
  bool is_before(Segment a, Segment b) const;

  std::vector<Node> nodes_;
  std::vector<Segment> current_;                // by block
  std::map<Signal, std::deque<Segment>> sets_;  // that nothing has waited for
  bool has_signals_ = false;
};

}  // namespace softnpu::kernel::check
