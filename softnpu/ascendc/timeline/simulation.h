#pragma once
// Plays the traces of a launch's blocks on a chip of some figures: when each pipe does what, and what it waits for.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ascendc/timeline/block_trace.h"
#include "ascendc/timeline/figures.h"

namespace softnpu::kernel::timeline {

// What a pipe did, in cycles from the launch's begin.
struct Slice {
  uint32_t block;
  uint32_t site;
  Pipe pipe;
  double begin;
  double end;
};

struct Outcome {
  double cycles = 0;
  bool is_complete = true;              // false: the blocks' waits never end
  std::array<double, kPipes> busy{};    // cycles of all cores together
  std::map<std::string, double> waits;  // by cause, "V for MTE2": cycles of all cores together
  double global_bytes = 0;              // of whole lines
  uint32_t cores = 0;                   // that had a block
  std::vector<uint32_t> core_of_block;  // which core a block had
  std::vector<Slice> slices;            // at most kMaxSlices
  bool is_cut = false;                  // there were more
  static constexpr size_t kMaxSlices = 100000;
};

// `blocks`: by their number. A block has a core from its begin to its end; those beyond the cores begin as others end,
// or wait in SyncAll or for a signal. Copies of global memory that run at once share its bandwidth equally.
Outcome simulate(const std::vector<std::unique_ptr<BlockTrace>>& blocks, const Figures& figures);

}  // namespace softnpu::kernel::timeline
