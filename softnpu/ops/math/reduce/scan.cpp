#include "ops/math/reduce/scan.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/view.h"
#include "ops/core/tensor_memory.h"
#include "ops/math/reduce/space.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Values per tile, of one line or of adjacent ones.
constexpr int64_t kTile = 256;
constexpr size_t kMaxBytes = 16;
constexpr double kFlopsPerValue = 32;

// A planned scan. Immutable: several threads may run it.
class ScanTask {
 public:
  ScanTask(const ScanKernel& kernel, const aclTensor& self, size_t dim, aclDataType dtype, const Results& results,
           ReduceSpace space)
      : kernel_(kernel), space_(std::move(space)) {
    reader_ = ElementReader(self.dtype, dtype);
    writer_ = ElementWriter(dtype, results[0]->dtype);
    compute_bytes_ = static_cast<ptrdiff_t>(compute_type_size(compute_type_of(dtype)));
    if (!self.dims.empty()) {
      length_ = self.dims[dim];
      for (size_t k = 0; k < kMaxResults; ++k) {
        if (results[k] == nullptr) continue;
        out_stride_[k] = results[k]->strides[dim] * static_cast<ptrdiff_t>(aclDataTypeSize(results[k]->dtype));
      }
    }
    if (results[1] != nullptr) {
      index_writer_ = ElementWriter(ACL_INT64, results[1]->dtype);
      has_indices_ = true;
    }
    // Few columns are read as lines, which are scanned together.
    constexpr int64_t kFewColumns = 16;
    by_columns_ = space_.is_by_columns() && (kernel.lines == nullptr || space_.inner_kept().size >= kFewColumns);
    reads_in_place_ = reader_.is_direct() && space_.inner_reduced().in == compute_bytes_;
    writes_in_place_ = writer_.is_direct() && out_stride_[0] == compute_bytes_;
    is_in_segments_ = kernel.total != nullptr && space_.kept_count() < static_cast<int64_t>(kScanLines);
    const double cost = kFlopsPerValue * static_cast<double>(space_.kept_count()) * static_cast<double>(length_);
    threads_ = threads_for(cost);
    work_ = cost;
  }

  double work() const { return work_; }

  void run() const {
    constexpr auto kGroup = static_cast<int64_t>(kScanLines);
    const int64_t lines = (int64_t{1} << 14) / length_ / kGroup * kGroup;
    const int64_t block = by_columns_ ? kTile : std::max(lines, kGroup);
    parallel_for(space_.kept_count(), block, threads_, [this](int64_t first, int64_t last) {
      space_.for_kept(first, last, [this](const ReduceRun& run) { by_columns_ ? run_columns(run) : run_rows(run); });
    });
  }

 private:
  struct Tile {
    alignas(64) char values[kTile * kMaxBytes];
    int64_t indices[kTile];
  };

  const char* in_of(const ReduceRun& run, int64_t line) const { return space_.in() + run.in + line * run.in_stride; }
  char* out_of(const ReduceRun& run, int64_t line) const {
    return space_.out(0) + run.out[0] + line * run.out_stride[0];
  }

  void run_rows(const ReduceRun& run) const {
    constexpr auto kGroup = static_cast<int64_t>(kScanLines);
    int64_t done = 0;
    for (; kernel_.lines != nullptr && done + kGroup <= run.count; done += kGroup) run_lines(run, done);
    for (; is_in_segments_ && done < run.count; ++done) run_segments(run, done);
    run_line_by_line(run, done);
  }

  // Values of kScanLines lines, or segments of one line.
  struct Group {
    Group() {
      for (size_t k = 0; k < kScanLines; ++k) values[k] = tiles[k].values;
    }
    alignas(16) char states[kScanLines * kMaxScanStateBytes];
    const char* from[kScanLines];
    char* to[kScanLines];
    const void* in[kScanLines];
    void* out[kScanLines];
    struct {
      alignas(64) char values[kTile * kMaxBytes];
    } tiles[kScanLines];
    void* values[kScanLines];
  };

  // Points `group.in` at the next values, in their memory or converted.
  void read(Group* group, size_t count) const {
    for (size_t k = 0; k < kScanLines; ++k) {
      group->in[k] = reads_in_place_ ? group->from[k] : group->values[k];
      group->out[k] = writes_in_place_ ? group->to[k] : group->values[k];
      if (!reads_in_place_) {
        reader_.read(group->from[k], space_.inner_reduced().in, count, group->values[k]);
      }
    }
  }

  void scan(Group* group, size_t count) const {
    kernel_.lines(group->states, group->in, group->out, count);
    for (size_t k = 0; k < kScanLines && !writes_in_place_; ++k) {
      writer_.write(group->values[k], count, group->to[k], out_stride_[0]);
    }
  }

  void run_lines(const ReduceRun& run, int64_t line) const {
    Group group;
    kernel_.start(group.states, kScanLines);
    for (int64_t i = 0; i < length_; i += kTile) {
      const auto here = static_cast<size_t>(std::min(kTile, length_ - i));
      for (size_t k = 0; k < kScanLines; ++k) {
        const int64_t at = line + static_cast<int64_t>(k);
        group.from[k] = in_of(run, at) + i * space_.inner_reduced().in;
        group.to[k] = out_of(run, at) + i * out_stride_[0];
      }
      read(&group, here);
      scan(&group, here);
    }
  }

  // One long line: the segments' totals first, so that they are scanned together.
  void run_segments(const ReduceRun& run, int64_t line) const {
    constexpr auto kGroup = static_cast<int64_t>(kScanLines);
    Group group;
    const char* from = in_of(run, line);
    char* to = out_of(run, line);
    alignas(16) char sum[kMaxScanStateBytes];
    kernel_.start(sum, 1);
    int64_t i = 0;
    for (; i + kGroup * kTile <= length_; i += kGroup * kTile) {
      for (size_t k = 0; k < kScanLines; ++k) {
        const int64_t at = i + static_cast<int64_t>(k) * kTile;
        group.from[k] = from + at * space_.inner_reduced().in;
        group.to[k] = to + at * out_stride_[0];
      }
      read(&group, kTile);
      for (size_t k = 0; k < kScanLines; ++k) {
        std::memcpy(group.states + k * kernel_.state_bytes, sum, kernel_.state_bytes);
        kernel_.total(sum, group.in[k], kTile);
      }
      scan(&group, kTile);
      std::memcpy(sum, group.states + (kScanLines - 1) * kernel_.state_bytes, kernel_.state_bytes);
    }
    run_line(run, line, i, sum);
  }

  void run_line_by_line(const ReduceRun& run, int64_t first) const {
    for (int64_t line = first; line < run.count; ++line) {
      alignas(16) char state[kMaxScanStateBytes];
      kernel_.start(state, 1);
      run_line(run, line, 0, state);
    }
  }

  // The values of a line from `first` on.
  void run_line(const ReduceRun& run, int64_t line, int64_t first, void* state) const {
    Tile tile;
    for (int64_t i = first; i < length_; i += kTile) {
      const auto here = static_cast<size_t>(std::min(kTile, length_ - i));
      const ptrdiff_t stride = space_.inner_reduced().in;
      reader_.read(in_of(run, line) + i * stride, stride, here, tile.values);
      kernel_.rows(state, tile.values, has_indices_ ? tile.indices : nullptr, here, i);
      writer_.write(tile.values, here, out_of(run, line) + i * out_stride_[0], out_stride_[0]);
      if (!has_indices_) continue;
      char* const indices = space_.out(1) + run.out[1] + line * run.out_stride[1] + i * out_stride_[1];
      index_writer_.write(tile.indices, here, indices, out_stride_[1]);
    }
  }

  void run_columns(const ReduceRun& run) const {
    Tile tile;
    alignas(16) char states[kTile * kMaxScanStateBytes];
    for (int64_t line = 0; line < run.count; line += kTile) {
      const auto here = static_cast<size_t>(std::min(kTile, run.count - line));
      kernel_.start(states, here);
      for (int64_t i = 0; i < length_; ++i) {
        reader_.read(space_.in() + run.in + line * run.in_stride + i * space_.inner_reduced().in, run.in_stride, here,
                     tile.values);
        kernel_.columns(states, tile.values, has_indices_ ? tile.indices : nullptr, here, i);
        const auto location = [&](size_t k) {
          return space_.out(k) + run.out[k] + line * run.out_stride[k] + i * out_stride_[k];
        };
        writer_.write(tile.values, here, location(0), run.out_stride[0]);
        if (has_indices_) index_writer_.write(tile.indices, here, location(1), run.out_stride[1]);
      }
    }
  }

  ScanKernel kernel_;
  ReduceSpace space_;
  ElementReader reader_;
  ElementWriter writer_;
  ElementWriter index_writer_;
  std::array<ptrdiff_t, kMaxResults> out_stride_{};  // along the scanned dimension
  ptrdiff_t compute_bytes_ = 0;
  int64_t length_ = 1;
  bool has_indices_ = false;
  bool by_columns_ = false;
  bool reads_in_place_ = false;
  bool writes_in_place_ = false;
  bool is_in_segments_ = false;  // lines are long and few
  double work_ = 0;
  int threads_ = 1;
};

Status check(const aclTensor& self, const aclTensor& result) {
  if (!is_known(result.dtype) || !is_known(self.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("no operator computes with one of ", describe(self), ", ", describe(result))};
  }
  void* memory = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(result, "the result", &memory));
  if (result.dims == self.dims) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("the result has the shape ", describe_shape(result.dims), " where ",
                                        describe_shape(self.dims), " is needed")};
}

Status plan_scan(ScanOp op, const aclTensor& self, int64_t dim, aclDataType dtype, const Results& results, Plan* plan) {
  if (!is_known(dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("no operator computes with data type ", static_cast<int>(dtype))};
  }
  std::vector<bool> marked;
  SOFTNPU_RETURN_IF_ERROR(marked_dims(self, {&dim, 1}, &marked));
  const auto at = static_cast<size_t>(std::find(marked.begin(), marked.end(), true) - marked.begin());
  // The results' first elements along the dimension: lines are walked as in a reduction.
  std::array<aclTensor, kMaxResults> firsts;
  Results lines{};
  for (size_t k = 0; k < kMaxResults; ++k) {
    if (results[k] == nullptr) continue;
    SOFTNPU_RETURN_IF_ERROR(check(self, *results[k]));
    firsts[k] = *results[k];
    if (!self.dims.empty()) firsts[k].dims[at] = std::min<int64_t>(1, self.dims[at]);
    lines[k] = &firsts[k];
  }
  const ScanKernel kernel = scan_kernel(op, compute_type_of(dtype));
  if (kernel.rows == nullptr) {
    return {ACLNN_ERR_PARAM_INVALID, text("not defined for ", name_of(dtype), " values: ", describe(self))};
  }
  if (element_count(self) == 0) return plan_nothing(plan);
  ReduceSpace space;
  SOFTNPU_RETURN_IF_ERROR(ReduceSpace::make(self, marked, true, lines, &space));
  auto task = std::make_shared<const ScanTask>(kernel, self, at, dtype, results, std::move(space));
  plan->work = task->work();
  plan->run = [task](void*) {
    task->run();
    return Status::ok();
  };
  plan->describe = describe_later({&self});
  return Status::ok();
}

}  // namespace

Status scan(ScanOp op, const aclTensor& self, int64_t dim, aclDataType dtype, const aclTensor& out, Plan* plan) {
  return plan_scan(op, self, dim, dtype == ACL_DT_UNDEFINED ? out.dtype : dtype, {&out}, plan);
}

Status scan_prod(const aclTensor& self, const aclScalar& dim, aclDataType dtype, const aclTensor& out, Plan* plan) {
  if (!dim.is_integral()) return {ACLNN_ERR_PARAM_INVALID, text("dimension ", dim.as_double(), " is no integer")};
  return scan(ScanOp::kProd, self, dim.as_int64(), dtype, out, plan);
}

Status scan_where(ScanOp op, const aclTensor& self, int64_t dim, const aclTensor& values, const aclTensor& indices,
                  Plan* plan) {
  return plan_scan(op, self, dim, self.dtype, {&values, &indices}, plan);
}

}  // namespace softnpu
