#pragma once
// What a block does to global memory between two points at which it meets other blocks: ranges of bytes, by line of the
// kernel. One block's; used by its thread alone.

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ascendc/sanitizer/sites.h"

namespace softnpu::kernel::check {

// kCombine: an atomic copy, which reads and writes.
enum class GlobalAccess : uint8_t { kRead, kWrite, kCombine };

// Disjoint ranges of bytes, each as long as it can be.
class ByteRanges {
 public:
  ByteRanges() = default;
  ByteRanges(const ByteRanges&) = delete;
  ByteRanges& operator=(const ByteRanges&) = delete;
  ByteRanges(ByteRanges&&) noexcept = default;
  ByteRanges& operator=(ByteRanges&&) noexcept = default;

  void add(uint64_t begin, uint64_t end);
  const std::map<uint64_t, uint64_t>& all() const { return ends_; }

 private:
  std::map<uint64_t, uint64_t> ends_;                    // by begin
  std::pair<const uint64_t, uint64_t>* last_ = nullptr;  // the range that was added to
  uint64_t limit_ = 0;                                   // the begin of the next one
};

// The accesses of one line.
struct LineAccesses {
  Site site;
  GlobalAccess access;
  ByteRanges ranges;
};

class BlockAccesses {
 public:
  // `number`: of `site`, the same one for the same line.
  void add(GlobalAccess access, uint64_t address, uint64_t bytes, uint32_t number, const Site& site);
  // What was added since the last call, in the order of the lines' first accesses.
  std::vector<LineAccesses> take();

 private:
  std::vector<LineAccesses> lines_;
  std::unordered_map<uint64_t, size_t> places_;  // in lines_, by number and access
};

}  // namespace softnpu::kernel::check
