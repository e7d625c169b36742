#include "fusion/aliasing.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace softnpu {
namespace {

using Accesses = std::vector<MemoryAccess>;

auto key_of(const MemoryAccess& access) {
  return std::tie(access.begin, access.end, access.element_bytes, access.first);
}

// Sorts the accesses by their beginnings and merges equal ones; the merged one is written if one of them is. False
// where one loop writes memory that every element of another may read.
bool merge_equal(Accesses* all) {
  std::ranges::sort(*all, [](const MemoryAccess& a, const MemoryAccess& b) { return key_of(a) < key_of(b); });
  size_t merged = 0;
  for (const MemoryAccess& next : *all) {
    if (merged > 0 && key_of((*all)[merged - 1]) == key_of(next)) {
      MemoryAccess& known = (*all)[merged - 1];
      known.is_written |= next.is_written;
      if (known.is_written && known.element_bytes == 0) return false;
    } else {
      (*all)[merged++] = next;
    }
  }
  all->resize(merged);
  return true;
}

// Whether no written access overlaps another one.
bool writes_are_disjoint(const Accesses& sorted) {
  for (auto a = sorted.begin(); a != sorted.end(); ++a) {
    for (auto b = a + 1; b != sorted.end() && b->begin < a->end; ++b) {
      if (a->is_written || b->is_written) return false;
    }
  }
  return true;
}

}  // namespace

size_t count_fusible_loops(std::span<const ElementwiseLoop* const> loops) {
  Accesses all;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (loops[i]->count() != loops[0]->count()) return i;
    loops[i]->add_accesses(&all);
    if (!merge_equal(&all) || !writes_are_disjoint(all)) return std::max<size_t>(i, 1);
  }
  return loops.size();
}

}  // namespace softnpu
