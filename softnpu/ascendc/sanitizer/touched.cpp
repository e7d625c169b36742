#include "ascendc/sanitizer/touched.h"

#include <algorithm>

namespace softnpu::kernel::check {

void Touched::clear() {
  operands_.clear();
  reads_.clear();
  writes_.clear();
  misuses_.clear();
  is_atomic_ = false;
}

const Operand* Touched::operand_of(uint64_t address) const {
  const Operand* best = nullptr;
  for (const Operand& operand : operands_) {
    if (operand.address <= address && (best == nullptr || operand.address > best->address)) best = &operand;
  }
  return best;
}

// Instructions touch their operands in turn, block by block: what continues one of the last ranges is joined to it.
void Touched::add(std::vector<Range>* ranges, const void* address, uint64_t bytes) {
  if (bytes == 0) return;
  const auto begin = reinterpret_cast<uint64_t>(address);
  const size_t recent = std::min<size_t>(ranges->size(), 4);
  for (size_t i = 0; i < recent; ++i) {
    Range& range = (*ranges)[ranges->size() - 1 - i];
    if (begin < range.address || begin > range.address + range.bytes) continue;
    if (operand_of(begin) != operand_of(range.address)) continue;  // tensors that are side by side
    range.bytes = std::max(range.bytes, begin + bytes - range.address);
    return;
  }
  ranges->push_back({begin, bytes});
}

}  // namespace softnpu::kernel::check
