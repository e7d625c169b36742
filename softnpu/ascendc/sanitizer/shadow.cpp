#include "ascendc/sanitizer/shadow.h"

#include <algorithm>

namespace softnpu::kernel::check {

// One access: nodes of equal states before it have equal states behind it.
struct Shadow::Traversal {
  Access access;
  uint64_t begin;
  uint64_t end;
  Accessor who;
  std::vector<Finding>* findings;
  Node before = ~0u;
  Node after = 0;
};

void Shadow::access(Access access, uint64_t address, uint64_t bytes, const Accessor& who,
                    std::vector<Finding>* findings) {
  constexpr int kRootBits = kPartBits * kLevels;
  Traversal traversal{access, address, address + bytes, who, findings};
  for (uint64_t root = address >> kRootBits; root << kRootBits < traversal.end; ++root)
    visit(&roots_[root], kLevels, root << kRootBits, &traversal);
  if (states_.size() > compact_at_) compact();
}

// `node` has the 32^level bytes from `first` on.
void Shadow::visit(Node* node, int level, uint64_t first, Traversal* traversal) {
  const uint64_t bytes = uint64_t{1} << (kPartBits * level);
  const bool is_whole = first >= traversal->begin && first + bytes <= traversal->end;
  if (is_whole && (*node & kSplit) == 0) {
    *node = next_state(*node, first, traversal);
    return;
  }
  if ((*node & kSplit) == 0) *node = split(*node);
  const uint32_t index = *node & ~kSplit;
  const int part_bits = kPartBits * (level - 1);
  const uint64_t from = traversal->begin > first ? (traversal->begin - first) >> part_bits : 0;
  const uint64_t to = std::min<uint64_t>(((traversal->end - 1 - first) >> part_bits) + 1, 1 << kPartBits);
  for (uint64_t i = from; i < to; ++i) {
    Node part = parts_[index][i];  // a copy: parts_ may grow
    visit(&part, level - 1, first + (i << part_bits), traversal);
    parts_[index][i] = part;
  }
  const auto& parts = parts_[index];
  if ((parts[0] & kSplit) == 0 &&
      std::all_of(parts.begin(), parts.end(), [&](Node part) { return part == parts[0]; })) {
    *node = parts[0];
    free_parts_.push_back(index);
  }
}

Shadow::Node Shadow::next_state(Node state, uint64_t address, Traversal* traversal) {
  if (state == traversal->before) return traversal->after;
  traversal->before = state;
  State next = states_[state];
  const size_t pipe = static_cast<size_t>(traversal->who.pipe);
  const uint32_t epoch = traversal->who.clock->epochs[pipe];
  switch (traversal->access) {
    case Access::kRead:
      find(next, address, traversal);
      next.read_epochs[pipe] = epoch;
      next.read_sites[pipe] = traversal->who.site;
      break;
    case Access::kWrite:
      find(next, address, traversal);
      next = State{};
      next.write_epoch = epoch;
      next.write_site = traversal->who.site;
      next.writer = traversal->who.pipe;
      break;
    case Access::kForget: next.is_initialised = false; break;
  }
  if (next == states_[state]) {
    traversal->after = state;
  } else {
    traversal->after = static_cast<Node>(states_.size());
    states_.push_back(next);
  }
  return traversal->after;
}

void Shadow::find(const State& state, uint64_t address, Traversal* traversal) const {
  const auto add = [&](Finding::Kind kind, Pipe pipe, uint32_t site, bool writes) {
    for (const Finding& had : *traversal->findings) {
      if (had.kind == kind && had.other_site == site && had.other_pipe == pipe && had.other_writes == writes) return;
    }
    traversal->findings->push_back({kind, address, site, pipe, writes});
  };
  const Accessor& who = traversal->who;
  const bool writes = traversal->access == Access::kWrite;
  if (!writes && !state.is_initialised) add(Finding::Kind::kUninitialised, Pipe::kS, 0, false);
  if (state.write_epoch != 0 && state.writer != who.pipe && state.write_epoch > who.clock->of(state.writer))
    add(Finding::Kind::kRace, state.writer, state.write_site, true);
  if (!writes) return;
  for (int i = 0; i < kPipes; ++i) {
    const auto pipe = static_cast<Pipe>(i);
    if (state.read_epochs[i] == 0 || pipe == who.pipe) continue;
    // The scalar unit has what it read before it issues what is behind it.
    const uint32_t known = pipe == Pipe::kS ? std::max(who.clock->of(pipe), who.scalar_epoch) : who.clock->of(pipe);
    if (state.read_epochs[i] > known) add(Finding::Kind::kRace, pipe, state.read_sites[i], false);
  }
}

Shadow::Node Shadow::split(Node state) {
  if (free_parts_.empty()) {
    free_parts_.push_back(static_cast<uint32_t>(parts_.size()));
    parts_.emplace_back();
  }
  const uint32_t index = free_parts_.back();
  free_parts_.pop_back();
  parts_[index].fill(state);
  return index | kSplit;
}

// Drops states that no byte has.
void Shadow::compact() {
  std::vector<Node> numbers(states_.size(), 0);
  std::vector<State> kept{states_[0]};
  const auto keep = [&](Node* node) {
    if ((*node & kSplit) != 0 || *node == 0) return;
    if (numbers[*node] == 0) {
      numbers[*node] = static_cast<Node>(kept.size());
      kept.push_back(states_[*node]);
    }
    *node = numbers[*node];
  };
  for (const uint32_t index : free_parts_) parts_[index].fill(0);
  for (auto& [number, node] : roots_) keep(&node);
  for (auto& parts : parts_) std::for_each(parts.begin(), parts.end(), [&](Node& node) { keep(&node); });
  states_ = std::move(kept);
  compact_at_ = std::max<size_t>(compact_at_, 2 * states_.size());
}

}  // namespace softnpu::kernel::check
