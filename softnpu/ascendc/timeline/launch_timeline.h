#pragma once
// The timeline of one launch: its blocks' traces, and what becomes of them at its end.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ascendc/timeline/block_trace.h"

namespace softnpu::kernel::timeline {

class LaunchTimeline {
 public:
  // Of a launch that the environment asks a timeline for; else null.
  static std::unique_ptr<LaunchTimeline> begin(uint32_t blocks);
  explicit LaunchTimeline(uint32_t blocks) : traces_(blocks) {}
  void add_blocks(uint32_t count);

  // Of one block, by its thread; stays as long as this.
  BlockTrace* begin_block(uint32_t block);
  // After the last block: plays the traces, writes the file and the summary on stderr. `is_whole`: no block failed.
  void finish(const std::string& kernel, const std::string& launched, bool is_whole);

 private:
  std::mutex mutex_;  // guards traces_, not what they point to
  std::vector<std::unique_ptr<BlockTrace>> traces_;
};

// What is wrong with the variables or their files, with which no kernel can be launched; null: nothing.
const char* error();

}  // namespace softnpu::kernel::timeline
