#include "nnopbase/sweep.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace softnpu {
namespace {

using Memory = std::vector<SweepMemory>;

auto place(const SweepMemory& memory) { return std::tie(memory.begin, memory.end, memory.lane, memory.element_bytes); }

bool comes_before(const SweepMemory& a, const SweepMemory& b) { return place(a) < place(b); }

// Leaves each place once, written if one says so.
void join_equal(Memory* sorted) {
  auto last = sorted->begin();
  for (auto next = sorted->begin(); next != sorted->end(); ++next) {
    if (next == last) continue;
    if (place(*next) == place(*last)) {
      last->is_written = last->is_written || next->is_written;
    } else {
      *++last = *next;
    }
  }
  if (!sorted->empty()) sorted->erase(last + 1, sorted->end());
}

// Whether nothing that is written lies over another place.
bool is_aligned(const Memory& sorted) {
  for (auto a = sorted.begin(); a != sorted.end(); ++a) {
    for (auto b = a + 1; b != sorted.end() && b->begin < a->end; ++b) {
      if (a->is_written || b->is_written) return false;
    }
  }
  return true;
}

}  // namespace

void Sweep::seal() {
  std::ranges::sort(memory_, comes_before);
  join_equal(&memory_);
}

size_t count_together(std::span<const Sweep* const> sweeps) {
  Memory all = sweeps[0]->memory();
  if (!is_aligned(all)) return 1;
  for (size_t i = 1; i < sweeps.size(); ++i) {
    if (sweeps[i]->lanes() != sweeps[0]->lanes()) return i;
    Memory both;
    both.reserve(all.size() + sweeps[i]->memory().size());
    std::ranges::merge(all, sweeps[i]->memory(), std::back_inserter(both), comes_before);
    join_equal(&both);
    if (!is_aligned(both)) return i;
    all = std::move(both);
  }
  return sweeps.size();
}

}  // namespace softnpu
