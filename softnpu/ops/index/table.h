#pragma once
// Converts index tensors to a table of offsets in the memory of the indexed tensor.

#include <vector>

#include "ops/iterate/view.h"

namespace softnpu {

// One index tensor, or one column of ScatterNd's.
struct IndexTerm {
  View index;            // broadcast to the table's sizes
  size_t dim = 0;        // the indexed dimension, for messages
  int64_t size = 0;      // of that dimension
  ptrdiff_t stride = 0;  // of that dimension, in bytes
};

struct IndexTable {
  std::vector<IndexTerm> terms;  // their offsets are added
  Dims sizes;
  bool wraps = false;  // negative indices count from the end
  // For indices in the logical order of all elements: the indexed tensor's sizes. Empty otherwise.
  Dims flat_sizes;
  Dims flat_strides;

  int64_t count() const;
  // Fails at the first index out of range.
  Status fill(ptrdiff_t* table) const;
};

// The index at `at`, of int32 or int64. Read once: another process may write it meanwhile, so the compiler must not
// read it again after a check.
inline int64_t load_index(const char* at, bool is_wide) {
  if (is_wide) return *reinterpret_cast<const volatile int64_t*>(at);
  return *reinterpret_cast<const volatile int32_t*>(at);
}

Status out_of_range(int64_t index, size_t dim, int64_t size, bool wraps);

}  // namespace softnpu
