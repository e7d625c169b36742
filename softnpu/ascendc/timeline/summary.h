#pragma once
// What a launch would take, in a few numbers.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ascendc/timeline/block_trace.h"
#include "ascendc/timeline/simulation.h"

namespace softnpu::kernel::timeline {

struct Summary {
  std::string kernel;
  std::string launched;  // by which line; may be empty
  uint32_t blocks = 0;
  uint32_t cores = 0;
  double cycles = 0;
  double microseconds = 0;
  std::string bound;                                  // "global memory", or a pipe: what is busy most
  double global_share = 0;                            // of the bandwidth of global memory
  std::array<double, kPipes> busy{};                  // share of the cores' time
  std::vector<std::pair<std::string, double>> waits;  // by cause, the longest first: share of the cores' time
  uint64_t moved = 0;                                 // bytes of whole lines of global memory
  uint64_t needed = 0;                                // bytes that the kernel reads and writes, each once
  bool is_cut = false;                                // the trace has not all slices

  // For people, several lines.
  std::string text() const;
  // For programs: members of a JSON object.
  std::string json() const;
};

Summary summarise(std::string kernel, std::string launched, const std::vector<std::unique_ptr<BlockTrace>>& blocks,
                  const Outcome& outcome, const Figures& figures);

}  // namespace softnpu::kernel::timeline
