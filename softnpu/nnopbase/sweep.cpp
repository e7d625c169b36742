#include "nnopbase/sweep.h"

#include <algorithm>
#include <tuple>

namespace softnpu {
namespace {

using Memory = std::vector<SweepMemory>;

auto place(const SweepMemory& memory) { return std::tie(memory.begin, memory.end, memory.element_bytes, memory.first); }

// Brings the places into the order of their beginnings and leaves each once, written if one says so. False where one is
// written of which every element may read all, and another touches it.
bool join_equal(Memory* all) {
  std::ranges::sort(*all, [](const SweepMemory& a, const SweepMemory& b) { return place(a) < place(b); });
  size_t kept = 0;
  for (const SweepMemory& next : *all) {
    if (kept > 0 && place((*all)[kept - 1]) == place(next)) {
      SweepMemory& known = (*all)[kept - 1];
      known.is_written |= next.is_written;
      if (known.is_written && known.element_bytes == 0) return false;
    } else {
      (*all)[kept++] = next;
    }
  }
  all->resize(kept);
  return true;
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

size_t count_together(std::span<const Sweep* const> sweeps) {
  Memory all;
  for (size_t i = 0; i < sweeps.size(); ++i) {
    if (sweeps[i]->count() != sweeps[0]->count()) return i;
    sweeps[i]->add_memory(&all);
    if (!join_equal(&all) || !is_aligned(all)) return std::max<size_t>(i, 1);
  }
  return sweeps.size();
}

}  // namespace softnpu
