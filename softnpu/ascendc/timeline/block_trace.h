#pragma once
// What one block asked its core to do, in the order of its program, for the timeline's model. Written by the block's
// thread, read after its end.

#include <cstdint>
#include <vector>

#include "ascendc/sanitizer/block_accesses.h"
#include "ascendc/sanitizer/pipe_queues.h"
#include "ascendc/sanitizer/sites.h"
#include "ascendc/sanitizer/touched.h"
#include "ascendc/timeline/figures.h"
#include "softnpu_kernel/core.h"

namespace softnpu::kernel::timeline {

struct Step {
  enum class Kind : uint8_t { kWork, kSet, kWait, kBarrier, kSyncAll, kGiveSignal, kTakeSignal };
  Kind kind{};
  Pipe pipe{};          // kWork
  check::Flag flag{};   // kSet, kWait
  uint32_t site = 0;    // kWork: of BlockTrace::sites
  uint32_t cycles = 0;  // kWork: the pipe's own; kS: the scalar unit's
  uint64_t lines = 0;   // kWork: bytes of whole lines that global memory moves for it
  uint64_t signal = 0;  // kGiveSignal, kTakeSignal
};

class BlockTrace {
 public:
  // Keeps `most_steps` steps at most.
  BlockTrace(const Figures* figures, size_t most_steps) : figures_(figures), most_steps_(most_steps) {}

  // `touched`: of the instruction, within bounds.
  void work(const Instruction& instruction, check::Touched* touched, const Block& block);
  void scalar_access(uint64_t address, uint64_t bytes, bool writes, const check::Site& site, const Block& block);
  void flag(Step::Kind kind, const check::Flag& flag) { add({.kind = kind, .flag = flag}); }
  void broadcast_and_promote(Step::Kind kind, uint64_t signal = 0) { add({.kind = kind, .signal = signal}); }

  const std::vector<Step>& steps() const { return steps_; }
  bool is_cut() const { return is_cut_; }  // there were more
  const check::Site& site(uint32_t number) const { return sites_[number]; }
  // Bytes of global memory that were read and written, each once.
  const check::ByteRanges& read() const { return read_; }
  const check::ByteRanges& written() const { return written_; }
  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t written_bytes() const { return written_bytes_; }

 private:
  void add(const Step& step);
  void note_global(const std::vector<check::Range>& ranges, bool writes, const Block& block);

  const Figures* figures_;
  const size_t most_steps_;
  bool is_cut_ = false;
  std::vector<Step> steps_;
  check::Sites sites_;
  check::ByteRanges read_;
  check::ByteRanges written_;
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;
};

}  // namespace softnpu::kernel::timeline
