#pragma once
// Converts index tensors to a table of offsets in the memory of the indexed tensor.

#include <vector>

#include "ops/core/iterate/view.h"
#include "ops/core/iterate/walk.h"
#include "ops/tensor/index/offsets.h"

namespace softnpu {

// One index tensor, or one column of ScatterNd's.
struct IndexTerm {
  // `index` has the table's sizes. `dim`: the indexed dimension, for messages; `size`: its size; `stride`: its stride
  // in bytes.
  IndexTerm(const View& index, size_t dim, int64_t size, ptrdiff_t stride);

  const char* data;
  Walk<1> walk;
  IndexRange range;
  size_t dim;
  ptrdiff_t stride;
};

struct IndexTable {
  std::vector<IndexTerm> terms;  // their offsets are added
  Dims sizes;
  // For indices in the logical order of all elements: the indexed tensor's sizes. Empty otherwise.
  Dims flat_sizes;
  Dims flat_strides;

  int64_t count() const;
  // Negative indices count from the end.
  void wrap();
  // Writes the offsets of entries [first, first + count), at most kIndexTile. Returns how many precede the first index
  // out of range, which is added to `bad`. `data`, if not null, has the addresses to read in place of the terms' own.
  int64_t read(int64_t first, int64_t count, ptrdiff_t* offsets, FirstBadIndex* bad, void* const* data = nullptr) const;
  // Writes the whole table. Fails at the first index out of range.
  Status fill(ptrdiff_t* table, int threads) const;
};

}  // namespace softnpu
