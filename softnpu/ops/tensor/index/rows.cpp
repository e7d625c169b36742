#include "ops/tensor/index/rows.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "ops/core/copy/strided_copy.h"
#include "ops/core/operand_run.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The rows of a read, divided into tiles of entries and parts of the rest.
class RowReads {
 public:
  RowReads(RowLayout layout, aclDataType dtype)
      : layout_(std::move(layout)),
        kernel_(read_rows_kernel(aclDataTypeSize(dtype))),
        is_by_row_(is_contiguous(layout_.rest.inner(), static_cast<ptrdiff_t>(aclDataTypeSize(dtype)))) {}

  const RowLayout& layout() const { return layout_; }

  // `at`: the addresses of the result, of the indexed tensor, and of the table's terms.
  Status run(const IndexTable& table, void* const* at, int threads) const {
    FirstBadIndex bad;
    auto* const other = static_cast<char*>(at[0]);
    const auto* const indexed = static_cast<const char*>(at[1]);
    for_tiles(threads, [&](int64_t entry, int64_t entries, int64_t first, int64_t count) {
      ptrdiff_t offsets[kIndexTile];
      const int64_t valid = table.read(entry, entries, offsets, &bad, at + 2);
      read_tile(indexed, other, offsets, entry, valid, first, count);
    });
    return bad.status();
  }

  void run(const ptrdiff_t* table, int threads) const {
    for_tiles(threads, [&](int64_t entry, int64_t entries, int64_t first, int64_t count) {
      read_tile(layout_.indexed, layout_.other, table + entry, entry, entries, first, count);
    });
  }

 private:
  static bool is_contiguous(const Walk<2>::Dim& inner, ptrdiff_t size) {
    return inner.size > 1 && inner.strides[0] == size && inner.strides[1] == size;
  }

  // Calls body(entry, entries, first, count) for parts of the layout: a range of entries, one of the rest.
  template <typename Body>
  void for_tiles(int threads, const Body& body) const {
    const int64_t entries = layout_.entries.count();
    const int64_t rest = layout_.rest.count();
    const int64_t columns =
        std::min(rest, is_by_row_ ? kGrainElements : kGrainElements / std::min(entries, kIndexTile));
    const int64_t rows = std::min({entries, kIndexTile, std::max<int64_t>(1, kGrainElements / columns)});
    const int64_t across = (rest + columns - 1) / columns;
    const int64_t down = (entries + rows - 1) / rows;
    parallel_for(across * down, kGrainElements / (rows * columns), threads, [&](int64_t first, int64_t last) {
      for (int64_t tile = first; tile < last; ++tile) {
        const int64_t row = (is_by_row_ ? tile / across : tile % down) * rows;
        const int64_t column = (is_by_row_ ? tile % across : tile / down) * columns;
        body(row, std::min(rows, entries - row), column, std::min(columns, rest - column));
      }
    });
  }

  void read_tile(const char* indexed, char* other, const ptrdiff_t* offsets, int64_t entry, int64_t entries,
                 int64_t first, int64_t count) const {
    const Walk<2>::Offsets strides = layout_.rest.inner().strides;
    const ptrdiff_t row = layout_.entries.inner().strides[0];
    layout_.rest.for_runs(first, count, [&](const Walk<2>::Offsets& at, int64_t here) {
      const ptrdiff_t* next = offsets;
      layout_.entries.for_runs(entry, entries, [&](const Walk<1>::Offsets& offset, int64_t several) {
        kernel_({indexed + at[0], strides[0], next, several, other + at[1] + offset[0], row, strides[1], here});
        next += several;
      });
    });
  }

  RowLayout layout_;
  ReadRows kernel_;
  bool is_by_row_;
};

// A read whose rows the table chooses.
struct RowReadTask {
  static constexpr size_t kMaxOperands = 6;

  IndexTable table;
  RowReads reads;
  double cost;
  Describe message;

  double work() const { return cost; }
  size_t operand_count() const { return 2 + table.terms.size(); }
  std::string describe() const { return message(); }
  Status run(const std::array<void*, kMaxOperands>& at, int threads) const {
    return reads.run(table, at.data(), threads);
  }
};

// An entry costs about as much as four elements of a row.
Effort effort_of_rows(const RowLayout& rows) {
  return effort_of(static_cast<double>(rows.count()) + 4 * static_cast<double>(rows.entries.count()));
}

}  // namespace

RowLayout::RowLayout(char* of_indexed, char* of_other, const Dims& sizes, const Dims& strides, Walk<2> of_rest)
    : indexed(of_indexed), other(of_other), rest(std::move(of_rest)) {
  for (size_t i = 0; i < sizes.size(); ++i) entries.add(sizes[i], {strides[i]});
  entries.join();
  rest.order();
  rest.join();
}

RowLayout layout_along(const View& self, size_t dim, const View& index, const View& other) {
  Dims strides;
  for (size_t k = 0; k < index.rank(); ++k) strides.push_back(other.strides[dim + k]);
  Walk<2> rest;
  for (size_t i = 0; i < self.rank(); ++i) {
    if (i != dim) rest.add(self.sizes[i], {self.strides[i], other.strides[i < dim ? i : i - 1 + index.rank()]});
  }
  return {self.data, other.data, index.sizes, strides, rest};
}

IndexTable table_along(const View& self, size_t dim, const View& index) {
  return {{{index, dim, self.sizes[dim], self.strides[dim]}}, index.sizes, {}, {}};
}

Status plan_reads(IndexTable table, RowLayout rows, aclDataType dtype, Describe message, Plan* plan) {
  if (rows.count() == 0) return plan_nothing(plan);
  std::vector<void*> operands{rows.other, rows.indexed};
  for (const IndexTerm& term : table.terms) operands.push_back(const_cast<char*>(term.data));
  const Effort effort = effort_of_rows(rows);
  RowReads reads(std::move(rows), dtype);
  if (operands.size() > RowReadTask::kMaxOperands) {
    plan->describe = std::move(message);
    plan->work = effort.work;
    plan->run = [table = std::move(table), reads = std::move(reads), operands, threads = effort.threads](void*) {
      return reads.run(table, operands.data(), threads);
    };
    return Status::ok();
  }
  OperandRun<RowReadTask, RowReadTask::kMaxOperands> run;
  run.task = std::make_shared<const RowReadTask>(
      RowReadTask{std::move(table), std::move(reads), effort.work, std::move(message)});
  std::ranges::copy(operands, run.operands.begin());
  run.put(plan);
  return Status::ok();
}

Status plan_reads(FillTable fill, RowLayout rows, aclDataType dtype, Describe message, Plan* plan) {
  const Effort effort = effort_of_rows(rows);
  plan->describe = std::move(message);
  plan->work = effort.work;
  plan->workspace_bytes = checked(rows.entries.count()) * sizeof(ptrdiff_t);
  plan->run = [fill = std::move(fill), reads = RowReads(std::move(rows), dtype),
               threads = effort.threads](void* workspace) {
    if (reads.layout().count() == 0) return Status::ok();
    auto* entries = static_cast<ptrdiff_t*>(workspace);
    SOFTNPU_RETURN_IF_ERROR(fill(entries));
    reads.run(entries, threads);
    return Status::ok();
  };
  return Status::ok();
}

Status plan_writes(IndexTable table, RowWrites rows, Plan before, Describe message, Plan* plan,
                   std::shared_ptr<const void> keep) {
  const Effort effort = effort_of_rows(rows.layout());
  plan->describe = std::move(message);
  plan->work = effort.work + (before.run == nullptr ? 0 : before.work);
  plan->workspace_bytes = checked(rows.layout().entries.count()) * sizeof(ptrdiff_t);
  plan->run = [table = std::move(table), rows = std::move(rows), first = std::move(before.run), keep = std::move(keep),
               threads = effort.threads](void* workspace) {
    if (first != nullptr) SOFTNPU_RETURN_IF_ERROR(first(nullptr));
    if (rows.layout().count() == 0) return Status::ok();
    auto* entries = static_cast<ptrdiff_t*>(workspace);
    SOFTNPU_RETURN_IF_ERROR(table.fill(entries, threads));
    rows.run(entries, threads);
    return Status::ok();
  };
  return Status::ok();
}

Status plan_start(const aclTensor& self, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, out));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, self.dims, "out"));
  if (self.data == out.data && self.offset == out.offset && self.strides == out.strides) return Status::ok();
  return plan_copy(self, out, plan);
}

}  // namespace softnpu
