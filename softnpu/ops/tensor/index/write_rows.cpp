// Writes of rows: repeated writes to a row happen in table order.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/core/convert/number.h"
#include "ops/tensor/index/rows.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Shorter runs are walked element by element, with the entries in the inner loop.
constexpr int64_t kShortRun = 4;
// The number of samples that estimate the distribution of a table's entries.
constexpr int64_t kSampled = 63;

// Ranges of offsets for `threads` threads, with about the same number of entries each: all entries of a row have one
// thread. Empty if there are few entries, or if most are equal.
std::vector<ptrdiff_t> divide_entries(const ptrdiff_t* table, int64_t entries, int threads) {
  if (entries < kSampled * threads) return {};
  std::vector<ptrdiff_t> sample;
  for (int64_t k = 0; k < kSampled; ++k) sample.push_back(table[entries / kSampled * k]);
  std::ranges::sort(sample);
  std::vector<ptrdiff_t> bounds{PTRDIFF_MIN};
  for (int t = 1; t < threads; ++t) bounds.push_back(sample[static_cast<size_t>(kSampled * t / threads)]);
  bounds.push_back(PTRDIFF_MAX);
  const int64_t most = kSampled * 3 / 2 / threads;
  const auto below = [&](ptrdiff_t bound) { return std::ranges::lower_bound(sample, bound) - sample.begin(); };
  for (size_t t = 0; t + 1 < bounds.size(); ++t) {
    if (below(bounds[t + 1]) - below(bounds[t]) > most) return {};
  }
  return bounds;
}

}  // namespace

RowWrites::RowWrites(RowOp op, aclDataType dtype, RowLayout layout)
    : layout_(std::move(layout)), kernel_(row_kernel(op, dtype)), elements_(element_kernel(op, dtype)) {}

void RowWrites::set_alpha(const aclScalar& alpha, aclDataType dtype) { put_scalar(alpha, dtype, alpha_.data()); }

void RowWrites::run(const ptrdiff_t* table, int threads) const {
  const int64_t entries = layout_.entries.count();
  const int64_t rest = layout_.rest.count();
  // Each row has one thread. Ranges of rows share the fewest cache lines.
  const std::vector<ptrdiff_t> bounds =
      threads < 2 ? std::vector<ptrdiff_t>() : divide_entries(table, entries, threads);
  if (!bounds.empty()) {
    parallel_for(threads, 1, threads, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t) run_part(table, 0, rest, {bounds[t], bounds[t + 1]});
    });
    return;
  }
  // Otherwise ranges of columns, at least a cache line wide.
  const int64_t least = std::min<int64_t>(64, (rest + threads - 1) / threads);
  const int64_t grain = std::max<int64_t>(least, kGrainElements / entries);
  parallel_for(rest, grain, threads, [&](int64_t first, int64_t last) { run_part(table, first, last - first, {}); });
}

void RowWrites::run_part(const ptrdiff_t* table, int64_t first, int64_t count, Entries taken) const {
  const Walk<2>::Offsets strides = layout_.rest.inner().strides;
  if (std::min(layout_.rest.inner().size, count) < kShortRun) {
    layout_.rest.for_each(first, count, [&](const Walk<2>::Offsets& at) {
      write_elements(table, layout_.indexed + at[0], layout_.other + at[1], taken);
    });
    return;
  }
  layout_.rest.for_runs(first, count, [&](const Walk<2>::Offsets& at, int64_t here) {
    const ptrdiff_t* entry = table;
    layout_.entries.for_each(0, layout_.entries.count(), [&](const Walk<1>::Offsets& offset) {
      const ptrdiff_t where = *entry++;
      if (where < taken.begin || where >= taken.end) return;
      kernel_(layout_.indexed + where + at[0], strides[0], layout_.other + offset[0] + at[1], strides[1], here,
              alpha_.data());
    });
  });
}

void RowWrites::write_elements(const ptrdiff_t* table, char* indexed, char* other, Entries taken) const {
  const ptrdiff_t stride = layout_.entries.inner().strides[0];
  const bool has_all = taken.begin == PTRDIFF_MIN && taken.end == PTRDIFF_MAX;
  layout_.entries.for_runs(0, layout_.entries.count(), [&](const Walk<1>::Offsets& offset, int64_t several) {
    char* const from = other + offset[0];
    if (has_all) {
      elements_(indexed, table, from, stride, several, alpha_.data());
    } else {
      // Runs of entries that this thread takes.
      const auto is_taken = [&](int64_t k) { return table[k] >= taken.begin && table[k] < taken.end; };
      for (int64_t k = 0; k < several;) {
        int64_t end = k;
        while (end < several && is_taken(end)) ++end;
        if (end > k) elements_(indexed, table + k, from + k * stride, stride, end - k, alpha_.data());
        for (k = end; k < several && !is_taken(k);) ++k;
      }
    }
    table += several;
  });
}

}  // namespace softnpu
