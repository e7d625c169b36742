// gather, and scatter with its reductions.

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "base/text.h"
#include "ops/core/convert/number.h"
#include "ops/core/convert/rows.h"
#include "ops/core/convert/typed.h"
#include "ops/core/copy/strided_copy.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/operand_run.h"
#include "ops/core/workspace.h"
#include "ops/tensor/index/operators.h"
#include "ops/tensor/index/rows.h"
#include "ops/tensor/index/slices.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// An indexed element costs about as much as four that are moved in order.
constexpr double kCostOfIndex = 4;

// Opens views; a zero-dimensional tensor gets one dimension.
Status open(const aclTensor& tensor, const char* role, View* view) {
  SOFTNPU_RETURN_IF_ERROR(view_of(tensor, role, view));
  if (view->rank() == 0) *view = view->insert(0, 1, 0);
  return Status::ok();
}

// Checks that `index` is not larger than `other`, except in `dim` if that is `free`.
Status check_reach(const View& index, const View& other, size_t dim, bool free, const char* role) {
  bool fits = index.rank() == other.rank();
  for (size_t i = 0; fits && i < index.rank(); ++i) fits = (free && i == dim) || index.sizes[i] <= other.sizes[i];
  if (fits) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID,
          text("index of the shape ", describe_shape(index.sizes), " does not fit into ", role, " of the shape ",
               describe_shape(other.sizes), free ? text(" outside of dimension ", dim) : "")};
}

View contiguous(const View& like, aclDataType dtype, char* data) {
  View result;
  result.sizes = like.sizes;
  result.strides = like.sizes;
  result.dtype = dtype;
  result.data = data;
  int64_t stride = result.element();
  for (size_t i = like.rank(); i-- > 0; stride *= like.sizes[i]) result.strides[i] = stride;
  return result;
}

// The initial value of a reduction that excludes the tensor's own values.
template <typename T>
T identity(RowOp op) {
  if constexpr (std::is_arithmetic_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (op == RowOp::kLarger) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    if (op == RowOp::kSmaller) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  return T(op == RowOp::kMultiply ? 1 : 0);
}

template <typename T>
T mean_of(T sum, int64_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    return sum / static_cast<T>(count);
  } else if constexpr (std::is_integral_v<T>) {
    const auto quotient = static_cast<T>(sum / static_cast<T>(count));
    return sum % static_cast<T>(count) != 0 && sum < 0 ? quotient - 1 : quotient;
  } else {
    return sum / T(static_cast<typename T::value_type>(count));
  }
}

// The identity must be clamped to the stored type: int8's maximum is not that of int32, its compute type.
template <typename Element>
void store_identity(RowOp op, char* to) {
  using Stored = typename Element::Stored;
  using Computed = typename Element::Computed;
  if constexpr (std::is_integral_v<Computed> && std::is_integral_v<Stored>) {
    if (op == RowOp::kLarger || op == RowOp::kSmaller) {
      const bool larger = op == RowOp::kLarger;
      const Stored least = larger ? std::numeric_limits<Stored>::lowest() : std::numeric_limits<Stored>::max();
      return Element::store(to, static_cast<Computed>(least));
    }
  }
  Element::store(to, identity<Computed>(op));
}

struct Scatter {
  View index;
  View other;
  View out;
  size_t dim = 0;
  RowOp op = RowOp::kWrite;
  bool is_mean = false;
  bool include_self = true;
  // Offsets in the workspace.
  size_t counts_at = 0;
  size_t sums_at = 0;

  // Sums and products of half types are in float32 and rounded once, as in PyTorch's CPU kernels.
  bool is_widened() const { return is_half(out.dtype) && (op == RowOp::kAdd || op == RowOp::kMultiply); }
  Status run(char* workspace, int threads) const;

 private:
  Status run_widened(char* workspace, int threads) const;
  // For the mean: the number of terms of each element of the result.
  Status count_terms(int64_t* numbers, int threads) const;
};

// Calls body(first element, stride, i, count) for each run of elements of `out`; i is the first one's logical index.
template <typename Body>
void for_runs(const View& out, int threads, const Body& body) {
  Walk<1> walk;
  for (size_t i = 0; i < out.rank(); ++i) walk.add(out.sizes[i], {out.strides[i]});
  walk.join();
  parallel_for(out.count(), kGrainElements, threads, [&](int64_t first, int64_t last) {
    int64_t i = first;
    walk.for_runs(first, last - first, [&](const Walk<1>::Offsets& at, int64_t run) {
      body(out.data + at[0], walk.inner().strides[0], i, run);
      i += run;
    });
  });
}

Status Scatter::count_terms(int64_t* numbers, int threads) const {
  std::fill_n(numbers, out.count(), include_self ? 1 : 0);
  const View counts = contiguous(out, ACL_INT64, reinterpret_cast<char*>(numbers));
  const Slices lines(index, other, counts, dim, Slices::Order::kByLine);
  return lines.for_runs(threads, [](const IndexedRun& run) {
    for (int64_t k = 0; k < run.count; ++k) ++*reinterpret_cast<int64_t*>(run.indexed + run.offsets[k]);
  });
}

Status Scatter::run_widened(char* workspace, int threads) const {
  auto* numbers = reinterpret_cast<int64_t*>(workspace + counts_at);
  auto* sums = reinterpret_cast<float*>(workspace + sums_at);
  const View sums_view = contiguous(out, ACL_FLOAT, workspace + sums_at);
  const Slices lines(index, other, sums_view, dim, Slices::Order::kByLine);
  if (is_mean) SOFTNPU_RETURN_IF_ERROR(count_terms(numbers, threads));
  const LoadRow load = load_row(out.dtype);
  for_runs(out, threads, [&](const char* at, ptrdiff_t stride, int64_t i, int64_t run) {
    load(at, stride, static_cast<size_t>(run), sums + i);
  });
  if (!include_self) {
    SOFTNPU_RETURN_IF_ERROR(lines.for_runs(threads, [&](const IndexedRun& run) {
      for (int64_t k = 0; k < run.count; ++k) {
        *reinterpret_cast<float*>(run.indexed + run.offsets[k]) = identity<float>(op);
      }
    }));
  }
  const ElementKernel kernel = element_kernel(op, ACL_FLOAT);
  SOFTNPU_RETURN_IF_ERROR(lines.for_runs(threads, [&](const IndexedRun& run) {
    float terms[kIndexTile];
    load(run.other, run.stride, static_cast<size_t>(run.count), terms);
    kernel(run.indexed, run.offsets, reinterpret_cast<const char*>(terms), sizeof(float), run.count, nullptr);
  }));
  for_runs(out, threads, [&](char* at, ptrdiff_t stride, int64_t i, int64_t run) {
    for (int64_t k = i; is_mean && k < i + run; ++k) {
      if (numbers[k] > 1) sums[k] = mean_of(sums[k], numbers[k]);
    }
    store_row(out.dtype)(sums + i, static_cast<size_t>(run), at, stride);
  });
  return Status::ok();
}

Status Scatter::run(char* workspace, int threads) const {
  if (is_widened()) return run_widened(workspace, threads);
  const Slices lines(index, other, out, dim, Slices::Order::kByLine);
  if (!include_self && op != RowOp::kWrite) {
    alignas(16) char first[16];
    with_any(out.dtype, [&]<typename Element>() { store_identity<Element>(op, first); });
    const ElementKernel write = element_kernel(RowOp::kWrite, out.dtype);
    SOFTNPU_RETURN_IF_ERROR(lines.for_runs(
        threads, [&](const IndexedRun& run) { write(run.indexed, run.offsets, first, 0, run.count, nullptr); }));
  }
  const ElementKernel kernel = element_kernel(op, out.dtype);
  SOFTNPU_RETURN_IF_ERROR(lines.for_runs(threads, [&](const IndexedRun& run) {
    kernel(run.indexed, run.offsets, run.other, run.stride, run.count, nullptr);
  }));
  if (!is_mean) return Status::ok();
  auto* numbers = reinterpret_cast<int64_t*>(workspace + counts_at);
  SOFTNPU_RETURN_IF_ERROR(count_terms(numbers, threads));
  with_any(out.dtype, [&]<typename Element>() {
    for_runs(out, threads, [&](char* at, ptrdiff_t stride, int64_t i, int64_t run) {
      for (int64_t k = i; k < i + run; ++k, at += stride) {
        if (numbers[k] > 1) Element::store(at, mean_of(Element::load(at), numbers[k]));
      }
    });
  });
  return Status::ok();
}

Status read_reduction(int64_t reduction, RowOp* op) {
  constexpr RowOp kOps[] = {RowOp::kWrite, RowOp::kAdd, RowOp::kMultiply, RowOp::kLarger, RowOp::kSmaller, RowOp::kAdd};
  if (reduction < 0 || reduction >= static_cast<int64_t>(std::size(kOps))) {
    return {ACLNN_ERR_PARAM_INVALID, text("reduction ", reduction, " does not exist: it is 0 (none), 1 (add), ",
                                          "2 (multiply), 3 (maximum), 4 (minimum) or 5 (mean)")};
  }
  *op = kOps[reduction];
  return Status::ok();
}

// `task.other` is set and large enough for the index. `keep` owns it if no tensor does.
Status plan_scatter(const aclTensor& self, int64_t dim, const aclTensor& index, int64_t reduction, const aclTensor& out,
                    Scatter task, std::shared_ptr<const void> keep, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(open(out, "out", &task.out));
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, task.out.rank(), &task.dim));
  SOFTNPU_RETURN_IF_ERROR(read_reduction(reduction, &task.op));
  task.is_mean = reduction == 5;
  if (row_kernel(task.op, out.dtype) == nullptr || (task.is_mean && is_complex(out.dtype))) {
    return {ACLNN_ERR_PARAM_INVALID, text("reduction ", reduction, " is not defined for ", name_of(out.dtype))};
  }
  Plan start;
  SOFTNPU_RETURN_IF_ERROR(plan_start(self, out, &start));
  const int64_t count = task.index.count();
  if (count > 0) SOFTNPU_RETURN_IF_ERROR(check_reach(task.index, task.out, task.dim, true, "self"));
  const double passes = task.is_mean ? 3 : task.include_self ? 1 : 2;
  const double widened = task.is_widened() ? 2 * static_cast<double>(task.out.count()) : 0;
  const Effort effort = effort_of(kCostOfIndex * passes * static_cast<double>(count) + widened);
  plan->work = effort.work + (start.run == nullptr ? 0 : start.work);
  Workspace workspace;
  if (task.is_mean) task.counts_at = workspace.reserve(checked(task.out.count()) * sizeof(int64_t));
  if (task.is_widened()) task.sums_at = workspace.reserve(checked(task.out.count()) * sizeof(float));
  plan->workspace_bytes = workspace.bytes();
  const aclTensor* all[] = {&self, &index, &out};
  plan->describe = describe_later(all);
  plan->run = [task, keep = std::move(keep), count, effort, first = std::move(start.run)](void* workspace) {
    if (first != nullptr) SOFTNPU_RETURN_IF_ERROR(first(nullptr));
    return count == 0 ? Status::ok() : task.run(static_cast<char*>(workspace), effort.threads);
  };
  return Status::ok();
}

struct Gather {
  Slices lines;
  ReadRows read;
  double cost;
  Describe message;

  double work() const { return cost; }
  size_t operand_count() const { return 3; }
  std::string describe() const { return message(); }
  // `at`: the result, the indexed tensor, the index.
  Status run(const std::array<void*, 3>& at, int threads) const {
    const LineOperands operands{static_cast<const char*>(at[2]), static_cast<char*>(at[0]), static_cast<char*>(at[1])};
    return lines.for_runs(operands, threads, [this](const IndexedRun& run) {
      read({run.indexed, 0, run.offsets, run.count, run.other, run.stride, 0, 1});
    });
  }
};

}  // namespace

Status gather(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& out, Plan* plan) {
  View from;
  View indices;
  View to;
  SOFTNPU_RETURN_IF_ERROR(open(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(open(index, "index", &indices));
  SOFTNPU_RETURN_IF_ERROR(open(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(require_index(index, "index"));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, out));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, index.dims, "out"));
  size_t at = 0;
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, from.rank(), &at));
  if (indices.count() == 0) return plan_nothing(plan);
  SOFTNPU_RETURN_IF_ERROR(check_reach(indices, from, at, true, "self"));
  const double cost = effort_of(kCostOfIndex * static_cast<double>(indices.count())).work;
  OperandRun<Gather, 3> run;
  run.task = std::make_shared<const Gather>(Gather{Slices(indices, to, from, at, Slices::Order::kAny),
                                                   read_rows_kernel(static_cast<size_t>(to.element())), cost,
                                                   describe_later({&self, &index, &out})});
  run.operands = {to.data, from.data, indices.data};
  run.put(plan);
  return Status::ok();
}

Status scatter(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& src, int64_t reduction,
               bool include_self, const aclTensor& out, Plan* plan) {
  Scatter task;
  task.include_self = include_self;
  SOFTNPU_RETURN_IF_ERROR(open(index, "index", &task.index));
  SOFTNPU_RETURN_IF_ERROR(open(src, "src", &task.other));
  SOFTNPU_RETURN_IF_ERROR(require_index(index, "index"));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, src));
  if (task.index.count() > 0) SOFTNPU_RETURN_IF_ERROR(check_reach(task.index, task.other, 0, false, "src"));
  return plan_scatter(self, dim, index, reduction, out, task, nullptr, plan);
}

Status scatter(const aclTensor& self, int64_t dim, const aclTensor& index, const aclScalar& value, int64_t reduction,
               bool include_self, const aclTensor& out, Plan* plan) {
  struct alignas(16) Constant {
    char bytes[16];
  };
  Scatter task;
  task.include_self = include_self;
  SOFTNPU_RETURN_IF_ERROR(open(index, "index", &task.index));
  SOFTNPU_RETURN_IF_ERROR(require_index(index, "index"));
  auto constant = std::make_shared<Constant>();
  if (!is_known(out.dtype)) return {ACLNN_ERR_PARAM_INVALID, "out has a data type that no operator computes with"};
  store_scalar(value, out.dtype, constant->bytes);
  task.other = task.index;
  task.other.data = constant->bytes;
  for (int64_t& stride : task.other.strides) stride = 0;
  return plan_scatter(self, dim, index, reduction, out, task, constant, plan);
}

}  // namespace softnpu
