#include "ascendc/sanitizer/block_order.h"

namespace softnpu::kernel::check {

void BlockOrder::add_blocks(uint32_t count) {
  const auto first = static_cast<uint32_t>(current_.size());
  current_.resize(first + count);
  nodes_.reserve(nodes_.size() + count);
  for (uint32_t block = first; block < first + count; ++block) begin(block, 0, kNone, kNone);
}

void BlockOrder::begin(uint32_t block, uint32_t phase, Segment same_block, Segment other_block) {
  current_[block] = static_cast<Segment>(nodes_.size());
  nodes_.push_back({block, phase, {same_block, other_block}});
}

void BlockOrder::sync_all(uint32_t block) { begin(block, phase(current_[block]) + 1, kNone, kNone); }

void BlockOrder::set(uint32_t block, const Signal& signal) {
  const Segment ended = current_[block];
  has_signals_ = true;
  sets_[signal].push_back(ended);
  begin(block, phase(ended), ended, kNone);
}

void BlockOrder::wait(uint32_t block, const Signal& signal) {
  const Segment ended = current_[block];
  Segment setter = kNone;
  if (auto& sets = sets_[signal]; !sets.empty()) {
    setter = sets.front();
    sets.pop_front();
  }
  begin(block, phase(ended), ended, setter);
}

bool BlockOrder::is_ordered(Segment a, Segment b) const {
  if (phase(a) != phase(b)) return true;
  return has_signals_ && (is_before(a, b) || is_before(b, a));
}

// Whether a way leads from `b` back to `a`. Segments have larger numbers than what is before them.
bool BlockOrder::is_before(Segment a, Segment b) const {
  std::vector<Segment> open{b};
  std::vector<bool> seen(b + 1, false);
  while (!open.empty()) {
    const Segment at = open.back();
    open.pop_back();
    if (at == a) return true;
    for (const Segment before : nodes_[at].before) {
      if (before == kNone || before < a || seen[before] || phase(before) != phase(a)) continue;
      seen[before] = true;
      open.push_back(before);
    }
  }
  return false;
}

}  // namespace softnpu::kernel::check
