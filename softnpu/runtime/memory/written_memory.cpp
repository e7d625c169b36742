#include "runtime/memory/written_memory.h"

#include <algorithm>
#include <iterator>

namespace softnpu {

void WrittenMemory::write(uint64_t begin, uint64_t end) {
  auto next = ends_.upper_bound(begin);
  if (next != ends_.begin() && std::prev(next)->second >= begin) {
    const auto before = std::prev(next);
    if (before->second >= end) return;
    begin = before->first;
    next = before;
  }
  while (next != ends_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ends_.erase(next);
  }
  ends_.emplace_hint(next, begin, end);
}

void WrittenMemory::forget(uint64_t begin, uint64_t end) {
  auto next = ends_.upper_bound(begin);
  if (next != ends_.begin() && std::prev(next)->second > begin) --next;
  while (next != ends_.end() && next->first < end) {
    const auto [first, last] = *next;
    next = ends_.erase(next);
    if (first < begin) ends_.emplace(first, begin);
    if (last > end) ends_.emplace(end, last);
  }
}

uint64_t WrittenMemory::written_until(uint64_t address) const {
  const auto next = ends_.upper_bound(address);
  return next == ends_.begin() ? address : std::max(address, std::prev(next)->second);
}

}  // namespace softnpu
