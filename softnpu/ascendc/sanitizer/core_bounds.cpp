// Bounds: what an instruction touches has to be in its tensor, in a buffer, in an allocation.

#include <algorithm>
#include <utility>

#include "ascendc/sanitizer/core.h"

namespace softnpu::kernel::check {

bool Core::check_bounds(std::vector<Range>* ranges, bool writes, const Site& site) {
  bool is_good = true;
  for (Range& range : *ranges) {
    const Range whole = range;
    std::vector<std::string> details;
    const std::string wrong = check_range(&range, &details);
    if (wrong.empty()) continue;
    is_good = false;
    Report* report = add(Check::kMemcheck, site, {}, true);
    if (report == nullptr) continue;
    report->what = std::string(site.name) + (writes ? " writes " : " reads ") + wrong;
    report->details = {(writes ? "writes: " : "reads: ") + std::to_string(whole.bytes) + " bytes at " +
                       buffers_.location(whole.address)};
    report->details.insert(report->details.end(), details.begin(), details.end());
  }
  if (!is_good) std::erase_if(*ranges, [](const Range& range) { return range.bytes == 0; });
  return is_good;
}

// What is wrong with `range`, which is cut to the part in bounds; empty where nothing is.
std::string Core::check_range(Range* range, std::vector<std::string>* details) {
  const uint64_t end = range->address + range->bytes;
  const auto behind = [&](uint64_t limit) { return std::to_string(end - std::max(limit, range->address)) + " bytes "; };
  const auto cut = [&](uint64_t limit) { range->bytes = limit > range->address ? limit - range->address : 0; };
  std::string wrong;
  const bool is_local = buffers_.memory_of(range->address).has_value();
  if (const Operand* operand = touched_.operand_of(range->address);
      operand != nullptr && operand->bytes != kUnknownBytes && end > operand->address + operand->bytes) {
    const uint64_t limit = operand->address + operand->bytes;
    wrong = behind(limit) + "behind the end of its tensor";
    details->push_back(std::string("operand ") + operand->name + ": " + std::to_string(operand->bytes) + " bytes at " +
                       buffers_.location(operand->address) + " to the end of its tensor");
    cut(limit);
  }
  if (!is_local) {
    const uint64_t valid = range->bytes == 0 ? 0 : global_.valid_bytes(range->address, range->bytes);
    if (valid < range->bytes && wrong.empty()) wrong = global_.problem(range->address, range->bytes);
    if (!wrong.empty()) {
      details->push_back("it begins at " + global_.text(range->address));
      if (std::string other = global_.neighbour(range->address, end - range->address); !other.empty())
        details->push_back(std::move(other));
    }
    cut(range->address + valid);
    return wrong;
  }
  const LocalBuffer* buffer = buffers_.find(range->address);
  if (buffer == nullptr) {
    cut(range->address);
    return wrong.empty() ? "local memory that no queue or buffer was given" : wrong;
  }
  details->push_back("in " + buffer->text(block_));
  if (range->address + range->bytes > buffer->end) {
    if (wrong.empty()) wrong = behind(buffer->end) + "behind the end of its buffer";
    cut(buffer->end);
  }
  if (wrong.empty() && buffer->state == LocalBuffer::State::kFreed) wrong = "a tensor that was freed";
  return wrong;
}

}  // namespace softnpu::kernel::check
