#include "ascendc/timeline/block_trace.h"

#include <algorithm>

#include "ascendc/timeline/cost.h"

namespace softnpu::kernel::timeline {
namespace {

bool is_global(const Block& block, uint64_t address) {
  for (size_t i = 0; i < std::size(block.local); ++i) {
    if (address - reinterpret_cast<uint64_t>(block.local[i]) < block.local_bytes[i]) return false;
  }
  return true;
}

}  // namespace

void BlockTrace::add(const Step& step) {
  if (steps_.size() < most_steps_)
    steps_.push_back(step);
  else
    is_cut_ = true;
}

void BlockTrace::note_global(const std::vector<check::Range>& ranges, bool writes, const Block& block) {
  for (const check::Range& range : ranges) {
    if (range.bytes == 0 || !is_global(block, range.address)) continue;
    (writes ? written_ : read_).add(range.address, range.address + range.bytes);
    (writes ? written_bytes_ : read_bytes_) += range.bytes;
  }
}

void BlockTrace::work(const Instruction& instruction, check::Touched* touched, const Block& block) {
  const Cost cost = cost_of(instruction, touched, *figures_);
  if (cost.line_bytes > 0) {
    note_global(touched->reads(), false, block);
    note_global(touched->writes(), true, block);
  }
  add({.kind = Step::Kind::kWork,
       .pipe = instruction.pipe,
       .site = sites_.number_of({instruction.name, instruction.pipe, instruction.where}),
       .cycles = cost.cycles,
       .lines = cost.line_bytes});
}

void BlockTrace::scalar_access(uint64_t address, uint64_t bytes, bool writes, const check::Site& site,
                               const Block& block) {
  const bool is_far = is_global(block, address);
  if (is_far) note_global({{address, bytes}}, writes, block);
  const auto cycles = static_cast<uint32_t>(is_far ? figures_->scalar_global : figures_->scalar_local);
  add({.kind = Step::Kind::kWork, .pipe = Pipe::kS, .site = sites_.number_of(site), .cycles = cycles});
}

}  // namespace softnpu::kernel::timeline
