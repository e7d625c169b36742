#include "ops/tensor/index/sorted_entries.h"

#include <algorithm>

#include "ops/core/iterate/walk.h"
#include "ops/tensor/index/table.h"

namespace softnpu {

Status SortedEntries::sort(const View& index, const View& other, size_t dim, int64_t skipped) {
  const bool is_widened = index.dtype == ACL_INT64;
  Walk<1> forwards;
  Walk<1> backwards;
  View last_other = other;
  for (size_t i = 0; i < index.rank(); ++i) {
    forwards.add(index.sizes[i], {index.strides[i]});
    last_other = last_other.flip(i);
    backwards.add(index.sizes[i], {last_other.strides[i]});
  }
  forwards.join();
  backwards.join();
  std::fill_n(begin_, chosen_ + 1, 0);
  int64_t* const copy = entries_ + forwards.count();
  int64_t* end = copy;
  Status status = Status::ok();
  forwards.for_each(0, forwards.count(), [&](const Walk<1>::Offsets& at) {
    const int64_t i = *end++ = load_index(index.data + at[0], is_widened);
    if (i == skipped) return;
    if (i >= 0 && i < chosen_) {
      ++begin_[i];
    } else if (status.is_ok()) {
      status = out_of_range(i, dim, chosen_, false);
    }
  });
  SOFTNPU_RETURN_IF_ERROR(status);
  // Prefix sums: each range's end, which the loop below decrements to its begin.
  for (int64_t i = 1; i <= chosen_; ++i) begin_[i] += begin_[i - 1];
  backwards.for_each(0, backwards.count(), [&](const Walk<1>::Offsets& at) {
    const int64_t i = *--end;
    if (i != skipped) entries_[--begin_[i]] = last_other.data + at[0] - other.data;
  });
  return Status::ok();
}

}  // namespace softnpu
