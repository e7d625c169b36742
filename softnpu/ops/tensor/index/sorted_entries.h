#pragma once
// The entries of an index grouped by index value, so that a sum gets all its terms at once, in order.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "ops/core/iterate/view.h"

namespace softnpu {

class SortedEntries {
 public:
  // A value that no index has.
  static constexpr int64_t kNoIndex = std::numeric_limits<int64_t>::min();

  static Checked workspace_bytes(int64_t chosen, int64_t entries) {
    return (checked(chosen) + 1 + entries + entries) * sizeof(int64_t);
  }

  // For indices in [0, chosen). `workspace` has workspace_bytes() and must outlive this.
  SortedEntries(void* workspace, int64_t chosen)
      : begin_(static_cast<int64_t*>(workspace)), entries_(begin_ + chosen + 1), chosen_(chosen) {}

  // Reads the index once. `other` has its sizes. Entries whose index is `skipped` are omitted. Fails at the first index
  // out of range; the error names dimension `dim`.
  Status sort(const View& index, const View& other, size_t dim, int64_t skipped = kNoIndex);

  // The offsets in `other`, in bytes, of the entries with index `i`.
  std::span<const ptrdiff_t> of(int64_t i) const {
    return {entries_ + begin_[i], static_cast<size_t>(begin_[i + 1] - begin_[i])};
  }

 private:
  int64_t* begin_;  // chosen_ + 1 positions in entries_
  ptrdiff_t* entries_;
  int64_t chosen_;
};

}  // namespace softnpu
