#include "ops/tensor/index/index_sums.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

#include "ops/core/convert/rows.h"
#include "ops/core/convert/typed.h"
#include "ops/core/dtype.h"
#include "ops/core/iterate/walk.h"
#include "ops/core/workspace.h"
#include "ops/tensor/index/sorted_entries.h"
#include "ops/tensor/index/table.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kTile = 256;
// An index whose number of entries is smaller than that of the rows by this factor is sorted by comparison.
constexpr int64_t kFew = 8;

// Calls take(index, position) for each index of the vector; fails at the first one out of range.
template <typename Take>
Status read_indices(const IndexSums& sums, const Take& take) {
  const bool is_widened = sums.index.dtype == ACL_INT64;
  const int64_t size = sums.out.sizes[sums.dim];
  for (int64_t k = 0; k < sums.index.count(); ++k) {
    const int64_t index = load_index(sums.index.data + k * sums.index.strides[0], is_widened);
    if (index < 0 || index >= size) return out_of_range(index, sums.dim, size, false);
    take(index, k);
  }
  return Status::ok();
}

// The dimensions except `dim`: of the result and of the addend.
Walk<2> rest_of(const IndexSums& sums) {
  Walk<2> rest;
  for (size_t i = 0; i < sums.out.rank(); ++i) {
    if (i != sums.dim) rest.add(sums.out.sizes[i], {sums.out.strides[i], sums.other.strides[i]});
  }
  rest.order();
  rest.join();
  return rest;
}

// Works line by line along `dim`. The workspace has the indices, and a line's sums if they are wider than the elements.
class LineSums {
 public:
  LineSums(const IndexSums& sums, int threads)
      : sums_(sums), rest_(rest_of(sums)), size_(sums.out.sizes[sums.dim]), count_(sums.index.count()) {
    indices_at_ = workspace_.reserve(checked(count_) * sizeof(int64_t));
    if (is_half(sums.out.dtype)) sums_at_ = workspace_.reserve(checked(size_) * sizeof(float) * threads);
  }

  Checked workspace_bytes() const { return workspace_.bytes(); }

  Status run(char* workspace, int threads) const {
    auto* indices = reinterpret_cast<int64_t*>(workspace + indices_at_);
    SOFTNPU_RETURN_IF_ERROR(read_indices(sums_, [&](int64_t index, int64_t k) { indices[k] = index; }));
    const int64_t grain = std::max<int64_t>(1, kGrainElements / 4 / std::max(size_ + count_, int64_t{1}));
    parallel_for_slots(rest_.count(), grain, threads, [&](int64_t first, int64_t last, int slot) {
      rest_.for_each(first, last - first, [&](const Walk<2>::Offsets& at) {
        char* to = sums_.out.data + at[0];
        const char* from = sums_.other.data + at[1];
        if (is_half(sums_.out.dtype)) {
          add_halves(to, from, indices, reinterpret_cast<float*>(workspace + sums_at_) + slot * size_);
        } else if (sums_.out.dtype == ACL_DOUBLE) {
          add<double>(to, from, indices);
        } else {
          add<float>(to, from, indices);
        }
      });
    });
    return Status::ok();
  }

 private:
  template <typename T>
  void add(char* to, const char* from, const int64_t* indices) const {
    const ptrdiff_t write = sums_.out.strides[sums_.dim];
    const ptrdiff_t read = sums_.other.strides[sums_.dim];
    const T alpha = static_cast<T>(sums_.alpha);
    for (int64_t k = 0; k < count_; ++k) {
      *reinterpret_cast<T*>(to + indices[k] * write) += alpha * *reinterpret_cast<const T*>(from + k * read);
    }
  }

  void add_halves(char* to, const char* from, const int64_t* indices, float* line) const {
    const ptrdiff_t write = sums_.out.strides[sums_.dim];
    const ptrdiff_t read = sums_.other.strides[sums_.dim];
    const auto alpha = static_cast<float>(sums_.alpha);
    const LoadRow load = load_row(sums_.out.dtype);
    alignas(64) float tile[kTile];
    load(to, write, static_cast<size_t>(size_), line);
    for (int64_t k = 0; k < count_; k += kTile) {
      const int64_t here = std::min(kTile, count_ - k);
      load(from + k * read, read, static_cast<size_t>(here), tile);
      for (int64_t i = 0; i < here; ++i) line[indices[k + i]] += alpha * tile[i];
    }
    store_row(sums_.out.dtype)(line, static_cast<size_t>(size_), to, write);
  }

  IndexSums sums_;
  Walk<2> rest_;
  int64_t size_;
  int64_t count_;
  Workspace workspace_;
  size_t indices_at_ = 0;
  size_t sums_at_ = 0;
};

// For half types, row by row of `dim`: all terms of a row are added together.
class RowSums {
 public:
  explicit RowSums(const IndexSums& sums)
      : sums_(sums), rest_(rest_of(sums)), size_(sums.out.sizes[sums.dim]), count_(sums.index.count()) {}

  Checked workspace_bytes() const {
    return is_few() ? checked(count_) * (sizeof(IndexEntry) + sizeof(ptrdiff_t))
                    : SortedEntries::workspace_bytes(size_, count_);
  }

  Status run(char* workspace, int threads) const {
    return is_few() ? run_few(workspace, threads) : run_all(workspace, threads);
  }

 private:
  struct IndexEntry {
    int64_t index;
    int64_t at;  // position in the vector
  };

  bool is_few() const { return count_ < size_ / kFew; }

  Status run_few(char* workspace, int threads) const {
    auto* entries = reinterpret_cast<IndexEntry*>(workspace);
    auto* offsets = reinterpret_cast<ptrdiff_t*>(entries + count_);
    SOFTNPU_RETURN_IF_ERROR(read_indices(sums_, [&](int64_t index, int64_t k) { entries[k] = {index, k}; }));
    std::sort(entries, entries + count_, [](const IndexEntry& a, const IndexEntry& b) {
      return a.index != b.index ? a.index < b.index : a.at < b.at;
    });
    for (int64_t k = 0; k < count_; ++k) offsets[k] = entries[k].at * sums_.other.strides[sums_.dim];
    by_columns(threads, [&](int64_t begin, int64_t count) {
      for (int64_t k = 0; k < count_;) {
        int64_t end = k + 1;
        while (end < count_ && entries[end].index == entries[k].index) ++end;
        add_row(entries[k].index, {offsets + k, static_cast<size_t>(end - k)}, begin, count);
        k = end;
      }
    });
    return Status::ok();
  }

  Status run_all(char* workspace, int threads) const {
    // The entries are along `dim` of the addend.
    View entries = sums_.index;
    entries.strides[0] = sums_.other.strides[sums_.dim];
    SortedEntries sorted(workspace, size_);
    SOFTNPU_RETURN_IF_ERROR(sorted.sort(sums_.index, entries, sums_.dim));
    const auto add_rows = [&](int64_t first, int64_t last, int64_t begin, int64_t count) {
      for (int64_t i = first; i < last; ++i) add_row(i, sorted.of(i), begin, count);
    };
    if (size_ < rest_.count()) {
      by_columns(threads, [&](int64_t begin, int64_t count) { add_rows(0, size_, begin, count); });
      return Status::ok();
    }
    const int64_t grain = std::max<int64_t>(1, kGrainElements / rest_.count() / 4);
    parallel_for(size_, grain, threads, [&](int64_t first, int64_t last) { add_rows(first, last, 0, rest_.count()); });
    return Status::ok();
  }

  // Each thread has its own columns, at least a cache line of them.
  template <typename Body>
  void by_columns(int threads, const Body& body) const {
    const int64_t least = std::max<int64_t>(64, kGrainElements / std::max<int64_t>(count_, 1) / 4);
    parallel_for(rest_.count(), least, threads, [&](int64_t first, int64_t last) { body(first, last - first); });
  }

  void add_row(int64_t row, std::span<const ptrdiff_t> entries, int64_t begin, int64_t count) const {
    if (entries.empty()) return;
    char* to = sums_.out.data + row * sums_.out.strides[sums_.dim];
    rest_.for_runs(begin, count, [&](const Walk<2>::Offsets& at, int64_t here) {
      for (int64_t first = 0; first < here; first += kTile) {
        add_tile(to + at[0] + first * rest_.inner().strides[0],
                 sums_.other.data + at[1] + first * rest_.inner().strides[1], std::min(kTile, here - first), entries);
      }
    });
  }

  void add_tile(char* to, const char* from, int64_t count, std::span<const ptrdiff_t> entries) const {
    const auto [write, read] = rest_.inner().strides;
    const LoadRow load = load_row(sums_.out.dtype);
    const auto alpha = static_cast<float>(sums_.alpha);
    alignas(64) float tile[kTile];
    alignas(64) float added[kTile];
    load(to, write, static_cast<size_t>(count), tile);
    for (const ptrdiff_t location : entries) {
      load(from + location, read, static_cast<size_t>(count), added);
      for (int64_t i = 0; i < count; ++i) tile[i] += alpha * added[i];
    }
    store_row(sums_.out.dtype)(tile, static_cast<size_t>(count), to, write);
  }

  IndexSums sums_;
  Walk<2> rest_;
  int64_t size_;
  int64_t count_;
};

template <typename Task>
void plan_task(Task task, const IndexSums& sums, const Effort& effort, Plan before, Plan* plan) {
  plan->workspace_bytes = task.workspace_bytes();
  const bool is_nothing = sums.out.count() == 0 || sums.index.count() == 0;
  plan->run = [task = std::move(task), is_nothing, threads = effort.threads,
               first = std::move(before.run)](void* workspace) {
    if (first != nullptr) SOFTNPU_RETURN_IF_ERROR(first(nullptr));
    return is_nothing ? Status::ok() : task.run(static_cast<char*>(workspace), threads);
  };
}

}  // namespace

bool IndexSums::is_by_line() const {
  const Walk<2> rest = rest_of(*this);
  const bool is_nearest = rest.count() == 1 || std::abs(out.strides[dim]) < std::abs(rest.inner().strides[0]);
  return is_nearest && index.count() >= out.sizes[dim] / kFew;
}

Status plan_index_sums(const IndexSums& sums, Plan before, Describe message, Plan* plan) {
  const auto size = static_cast<double>(sums.out.sizes[sums.dim]);
  const auto count = static_cast<double>(sums.index.count());
  const double rest = size > 0 ? static_cast<double>(sums.out.count()) / size : 0;
  const bool is_by_line = sums.is_by_line();
  const Effort effort = effort_of(is_by_line ? rest * (size + 2 * count) : 2 * (rest + 4) * count + size);
  plan->describe = std::move(message);
  plan->work = effort.work + (before.run == nullptr ? 0 : before.work);
  if (is_by_line) {
    plan_task(LineSums(sums, effort.threads), sums, effort, std::move(before), plan);
  } else {
    plan_task(RowSums(sums), sums, effort, std::move(before), plan);
  }
  return Status::ok();
}

}  // namespace softnpu
