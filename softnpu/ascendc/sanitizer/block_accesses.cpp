#include "ascendc/sanitizer/block_accesses.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace softnpu::kernel::check {

void ByteRanges::add(uint64_t begin, uint64_t end) {
  // Tiles follow one another: most ranges continue the last one.
  if (last_ != nullptr && begin >= last_->first && begin <= last_->second && end < limit_) {
    last_->second = std::max(last_->second, end);
    return;
  }
  auto next = ends_.upper_bound(begin);
  const bool continues = next != ends_.begin() && std::prev(next)->second >= begin;
  const auto at = continues ? std::prev(next) : ends_.emplace_hint(next, begin, end);
  at->second = std::max(at->second, end);
  for (; next != ends_.end() && next->first <= at->second; next = ends_.erase(next))
    at->second = std::max(at->second, next->second);
  last_ = &*at;
  limit_ = next == ends_.end() ? std::numeric_limits<uint64_t>::max() : next->first;
}

void BlockAccesses::add(GlobalAccess access, uint64_t address, uint64_t bytes, uint32_t number, const Site& site) {
  const auto [found, is_new] = places_.try_emplace(uint64_t{number} << 8 | static_cast<uint8_t>(access), lines_.size());
  if (is_new) lines_.push_back({site, access, {}});
  lines_[found->second].ranges.add(address, address + bytes);
}

std::vector<LineAccesses> BlockAccesses::take() {
  places_.clear();
  return std::exchange(lines_, {});
}

}  // namespace softnpu::kernel::check
