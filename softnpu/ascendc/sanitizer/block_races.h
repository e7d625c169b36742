#pragma once
// Compares what the blocks of a launch do to global memory: two accesses of different blocks to the same bytes, one of
// them a write and not both atomic, between which there is no SyncAll and no signal. What it finds does not depend on
// which block runs first. Any thread.

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ascendc/sanitizer/block_accesses.h"
#include "ascendc/sanitizer/block_order.h"
#include "ascendc/sanitizer/launch_memory.h"
#include "ascendc/sanitizer/report.h"

namespace softnpu::kernel::check {

class BlockRaces {
 public:
  // `memory`: the launch's; outlives this.
  BlockRaces(uint32_t blocks, std::string kernel, LaunchMemory* memory);
  void add_blocks(uint32_t count);

  // Each with what `block` did since its last call: before it waits in SyncAll, before IBSet, behind IBWait, at its
  // end.
  void sync_all(uint32_t block, std::vector<LineAccesses> lines);
  void set(uint32_t block, const BlockOrder::Signal& signal, std::vector<LineAccesses> lines);
  void wait(uint32_t block, const BlockOrder::Signal& signal, std::vector<LineAccesses> lines);
  void end(uint32_t block, std::vector<LineAccesses> lines);

  // After the last block: what was found, each pair of lines once.
  std::vector<Report> finish();

 private:
  struct Entry {
    BlockOrder::Segment segment;
    LineAccesses accesses;
  };
  struct Phase {
    uint32_t arrived = 0;  // blocks that have passed its end
    std::vector<Entry> entries;
  };
  // A range of an entry, during a comparison.
  struct Interval {
    uint64_t begin;
    uint64_t end;
    uint32_t entry;
  };
  // One line of the kernel with one kind of access.
  using LineKey = std::tuple<std::string, uint32_t, std::string, GlobalAccess>;

  // The following need mutex_.
  void keep(uint32_t block, std::vector<LineAccesses> lines);
  void compare(Phase* phase);
  void report(const Entry& a, const Entry& b, uint64_t begin, uint64_t end);
  static LineKey key_of(const LineAccesses& accesses);

  const std::string kernel_;
  LaunchMemory* const memory_;
  std::mutex mutex_;  // guards all members below
  BlockOrder order_;
  std::vector<Phase> phases_;
  std::set<std::pair<LineKey, LineKey>> reported_;
  std::vector<Report> reports_;
};

}  // namespace softnpu::kernel::check
