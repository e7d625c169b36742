#include "ops/index/rows.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/convert/number.h"
#include "ops/copy/strided_copy.h"
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

IndexedRows::IndexedRows(RowOp op, aclDataType dtype, char* indexed, char* other, const Dims& sizes,
                         const Dims& entries, Walk<2> rest)
    : kernel_(row_kernel(op, dtype)),
      reads_(op == RowOp::kRead),
      indexed_(indexed),
      other_(other),
      rest_(std::move(rest)) {
  for (size_t i = 0; i < sizes.size(); ++i) entries_.add(sizes[i], {entries[i]});
  entries_.join();
  rest_.order();
  rest_.join();
}

void IndexedRows::run(const ptrdiff_t* table, int threads) const {
  const int64_t entries = entries_.count();
  const int64_t rest = rest_.count();
  if (reads_ && entries >= rest) {
    const int64_t grain = std::max<int64_t>(1, kGrainElements / rest);
    parallel_for(entries, grain, threads,
                 [&](int64_t first, int64_t last) { run_part(table, first, last - first, 0, rest, {}); });
    return;
  }
  // Repeated writes to a row must happen in table order: each row has one thread. Ranges of rows share the fewest cache
  // lines.
  const std::vector<ptrdiff_t> bounds =
      reads_ || threads < 2 ? std::vector<ptrdiff_t>() : divide_entries(table, entries, threads);
  if (!bounds.empty()) {
    parallel_for(threads, 1, threads, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t) run_part(table, 0, entries, 0, rest, {bounds[t], bounds[t + 1]});
    });
    return;
  }
  // Otherwise ranges of columns, at least a cache line wide.
  const int64_t least = std::min<int64_t>(64, (rest + threads - 1) / threads);
  const int64_t grain = std::max<int64_t>(least, kGrainElements / entries);
  parallel_for(rest, grain, threads,
               [&](int64_t first, int64_t last) { run_part(table, 0, entries, first, last - first, {}); });
}

void IndexedRows::run_part(const ptrdiff_t* table, int64_t place, int64_t entries, int64_t first, int64_t count,
                           Entries taken) const {
  const Walk<2>::Offsets strides = rest_.inner().strides;
  if (std::min(rest_.inner().size, count) < kShortRun && entries > 1) {
    rest_.for_each(first, count, [&](const Walk<2>::Offsets& at) {
      const ptrdiff_t* entry = table + place;
      entries_.for_each(place, entries, [&](const Walk<1>::Offsets& offset) {
        const ptrdiff_t where = *entry++;
        if (where < taken.begin || where >= taken.end) return;
        kernel_(indexed_ + where + at[0], 0, other_ + offset[0] + at[1], 0, 1, alpha_.data());
      });
    });
    return;
  }
  const ptrdiff_t* entry = table + place;
  entries_.for_each(place, entries, [&](const Walk<1>::Offsets& offset) {
    const ptrdiff_t where = *entry++;
    if (where < taken.begin || where >= taken.end) return;
    rest_.for_runs(first, count, [&](const Walk<2>::Offsets& at, int64_t here) {
      kernel_(indexed_ + where + at[0], strides[0], other_ + offset[0] + at[1], strides[1], here, alpha_.data());
    });
  });
}

void IndexedRows::set_alpha(const aclScalar& alpha, aclDataType dtype) { put_scalar(alpha, dtype, alpha_.data()); }

Status plan_rows(FillTable fill, IndexedRows rows, Plan before, std::string said, Plan* plan) {
  plan->describe = [said = std::move(said)] { return said; };
  const Effort effort = effort_of(static_cast<double>(rows.count()) + 4 * static_cast<double>(rows.entries()));
  plan->work = effort.work + (before.run == nullptr ? 0 : before.work);
  plan->workspace_bytes = checked(rows.entries()) * sizeof(ptrdiff_t);
  plan->run = [fill = std::move(fill), rows = std::move(rows), first = std::move(before.run), effort](void* workspace) {
    if (first != nullptr) SOFTNPU_RETURN_IF_ERROR(first(nullptr));
    if (rows.count() == 0) return Status::ok();
    auto* entries = static_cast<ptrdiff_t*>(workspace);
    SOFTNPU_RETURN_IF_ERROR(fill(entries));
    rows.run(entries, effort.threads);
    return Status::ok();
  };
  return Status::ok();
}

IndexedRows AlongDim::rows() const {
  Dims entries;
  for (size_t k = 0; k < index.rank(); ++k) entries.push_back(other.strides[dim + k]);
  Walk<2> rest;
  for (size_t i = 0; i < self.rank(); ++i) {
    if (i != dim) rest.add(self.sizes[i], {self.strides[i], other.strides[i < dim ? i : i - 1 + index.rank()]});
  }
  return {op, self.dtype, self.data, other.data, index.sizes, entries, rest};
}

IndexTable AlongDim::table() const {
  return {{{index, dim, self.sizes[dim], self.strides[dim]}}, index.sizes, wraps, {}, {}};
}

Status plan_along_dim(const AlongDim& move, Plan before, std::string said, Plan* plan) {
  return plan_rows([table = move.table()](ptrdiff_t* entries) { return table.fill(entries); }, move.rows(),
                   std::move(before), std::move(said), plan);
}

Status plan_start(const aclTensor& self, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, out));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, self.dims, "out"));
  if (self.data == out.data && self.offset == out.offset && self.strides == out.strides) return Status::ok();
  return plan_copy(self, out, plan);
}

}  // namespace softnpu
