#pragma once
// Checks index values and converts them to offsets in memory, tile by tile: what is checked is what is used.

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/status.h"

namespace softnpu {

// Indices per tile: their offsets stay in the first-level cache until they are used.
constexpr int64_t kIndexTile = 512;

// The index at `at`, of int32 or int64. Read once: another process may write it meanwhile, so the compiler must not
// read it again after a check.
inline int64_t load_index(const char* at, bool is_widened) {
  if (is_widened) return *reinterpret_cast<const volatile int64_t*>(at);
  return *reinterpret_cast<const volatile int32_t*>(at);
}

Status out_of_range(int64_t index, size_t dim, int64_t size, bool wraps);

// What the values of an index mean.
struct IndexRange {
  bool is_widened = true;  // int64, otherwise int32
  bool wraps = false;      // negative values count from the end
  int64_t size = 0;        // of the indexed dimension
};

// offsets[k] = (value k) * along + k * step, for `count` values that are `stride` bytes apart. Returns how many precede
// the first value out of range, which *bad gets.
int64_t read_offsets(const IndexRange& range, const char* index, ptrdiff_t stride, int64_t count, ptrdiff_t along,
                     ptrdiff_t step, ptrdiff_t* offsets, int64_t* bad);

// The first index out of range, in the order of their positions, of those that several threads find.
class FirstBadIndex {
 public:
  void add(int64_t position, int64_t value, size_t dim, const IndexRange& range);
  Status status() const { return status_; }

 private:
  std::mutex mutex_;  // guards the members below until all threads are done
  int64_t position_ = INT64_MAX;
  Status status_;
};

}  // namespace softnpu
