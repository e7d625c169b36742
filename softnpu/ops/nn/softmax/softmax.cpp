#include "ops/nn/softmax/softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/flat.h"
#include "ops/core/iterate/view.h"
#include "ops/core/operand_run.h"
#include "ops/nn/softmax/slice_kernels.h"
#include "simd/non_temporal.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Values per tile: of a line, and of adjacent lines.
constexpr int64_t kTile = 2048;
// Lines up to this length are computed in one buffer.
constexpr int64_t kWhole = 4096;
constexpr int64_t kAcross = 128;
// Several contiguous lines up to this length are one call of a kernel.
constexpr int64_t kShort = 256;
// The number of values that may be summed in T before the sum is added in float64.
constexpr int64_t kPlain = 64;
constexpr int64_t kGrain = 1 << 14;
constexpr double kFlopsPerValue = 64;

// The elements as lines along one dimension.
struct Shape {
  int64_t lines = 1;
  int64_t length = 1;
  // Number of interleaved lines; 1 if each line's values are contiguous.
  int64_t across = 1;
  int64_t dim = -1;
};

// A planned softmax: x to y, or (grad, y) to the gradient. Immutable: several threads may run it.
template <typename T>
class SoftmaxTask {
 public:
  // The operands: the input, the gradient if there is one, the result.
  using Operands = std::array<void*, 3>;

  SoftmaxTask(bool log, const Shape& shape, Describe message)
      : kernel_(softmax_lines<T>()),
        shape_(shape),
        log_(log),
        non_temporal_(shape.lines * shape.length * static_cast<int64_t>(sizeof(T)) >= kNonTemporalBytes),
        message_(std::make_shared<const Describe>(std::move(message))) {}

  double work() const {
    return kFlopsPerValue * static_cast<double>(shape_.lines) * static_cast<double>(shape_.length);
  }
  std::string describe() const { return (*message_)(); }
  size_t operand_count() const { return grad ? 3 : 2; }
  Operands operands() {
    Operands found{};
    for_operands([&](FlatTensor& tensor, size_t i) { found[i] = tensor.data(); });
    return found;
  }
  std::shared_ptr<const SoftmaxTask> at(const Operands& operands) const {
    auto copy = std::make_shared<SoftmaxTask>(*this);
    copy->for_operands([&](FlatTensor& tensor, size_t i) { tensor.move(operands[i]); });
    return copy;
  }

  Status run(const Operands& /*operands*/, int threads) const {
    run(threads);
    return Status::ok();
  }

  // The input of softmax, or its result.
  FlatReader<T> in;
  std::optional<FlatReader<T>> grad;
  FlatWriter<T> out;

 private:
  template <typename Body>
  void for_operands(Body&& body) {
    body(in.tensor(), 0);
    if (grad) body(grad->tensor(), 1);
    body(out.tensor(), grad ? 2 : 1);
  }

  void run(int threads) const {
    const int64_t grain = std::max<int64_t>(1, kGrain / shape_.length);
    if (shape_.across == 1) {
      return parallel_for(shape_.lines, grain, threads, [this](int64_t first, int64_t last) {
        if (run_short(first, last)) return;
        for (int64_t line = first; line < last; ++line) grad ? gradient_of_line(line) : run_line(line);
        fence_non_temporal_stores();
      });
    }
    // Interleaved lines are computed together, up to kAcross of them.
    const int64_t pieces = (shape_.across + kAcross - 1) / kAcross;
    const int64_t groups = shape_.lines / shape_.across;
    parallel_for(groups * pieces, std::max<int64_t>(1, grain / kAcross), threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t at = i % pieces * kAcross;
        const int64_t count = std::min(kAcross, shape_.across - at);
        const int64_t start = i / pieces * shape_.across * shape_.length + at;
        grad ? gradient_across(start, count) : run_across(start, count);
      }
    });
  }

  // False if lines are long, or not contiguous.
  bool run_short(int64_t first, int64_t last) const {
    const int64_t n = shape_.length;
    if (n > kShort || non_temporal_) return false;
    // Highway's logarithm near 1 has the digits that float32 needs, and no more.
    if (log_ && !grad && sizeof(T) == sizeof(double)) return false;
    const auto count = static_cast<size_t>(last - first);
    const T* const from = in.find(first * n, (last - first) * n);
    T* const to = out.find(first * n, (last - first) * n);
    if (from == nullptr || to == nullptr) return false;
    if (!grad) return kernel_.short_lines(from, count, static_cast<size_t>(n), log_, to), true;
    const T* const slopes = grad->find(first * n, (last - first) * n);
    if (slopes == nullptr) return false;
    kernel_.short_gradients(slopes, from, count, static_cast<size_t>(n), log_, to);
    return true;
  }

  void run_line(int64_t line) const {
    const int64_t n = shape_.length;
    const int64_t first = line * n;
    alignas(64) T values[kWhole];
    if (n <= kWhole) {
      const T* x = in.read(first, n, values);
      if (T* past = non_temporal_ ? out.find(first, n) : nullptr; past != nullptr) {
        kernel_.whole(x, static_cast<size_t>(n), log_, values);
        return stream_(past, values, static_cast<size_t>(n) * sizeof(T), nullptr);
      }
      T* y = out.location(first, n, values);
      kernel_.whole(x, static_cast<size_t>(n), log_, y);
      return out.put(first, n, y);
    }
    const T* all = in.find(first, n);
    T* to = out.find(first, n);
    if (all != nullptr && to != nullptr) return kernel_.whole(all, static_cast<size_t>(n), log_, to);
    T* placed = values + kTile;
    T largest = -std::numeric_limits<T>::infinity();
    for_tiles(first, values, [&](const T* x, int64_t, size_t count) {
      const T best = kernel_.largest(x, count);
      if (best > largest || std::isnan(best)) largest = best;
    });
    double sum = 0;
    if (std::isfinite(largest)) {
      for_tiles(first, values, [&](const T* x, int64_t, size_t count) { sum += kernel_.sum(x, count, largest); });
    }
    for_tiles(first, values, [&](const T* x, int64_t at, size_t count) {
      T* y = out.location(at, static_cast<int64_t>(count), placed);
      kernel_.results(x, count, largest, sum, log_, y);
      out.put(at, static_cast<int64_t>(count), y);
    });
  }

  template <typename Body>
  void for_tiles(int64_t first, T* buffer, Body&& body) const {
    for (int64_t i = 0; i < shape_.length; i += kTile) {
      const int64_t here = std::min(kTile, shape_.length - i);
      body(in.read(first + i, here, buffer), first + i, static_cast<size_t>(here));
    }
  }

  void gradient_of_line(int64_t line) const {
    const int64_t first = line * shape_.length;
    alignas(64) T values[kTile];
    alignas(64) T grads[kTile];
    alignas(64) T placed[kTile];
    double sum = 0;
    for_tiles(first, values, [&](const T* y, int64_t at, size_t count) {
      sum += kernel_.gradient_sum(grad->read(at, static_cast<int64_t>(count), grads), y, count, log_);
    });
    for_tiles(first, values, [&](const T* y, int64_t at, size_t count) {
      const auto here = static_cast<int64_t>(count);
      T* past = non_temporal_ ? out.find(at, here) : nullptr;
      T* to = past == nullptr ? out.location(at, here, placed) : placed;
      kernel_.gradient(grad->read(at, here, grads), y, count, sum, log_, to);
      if (past != nullptr) return stream_(past, to, count * sizeof(T), nullptr);
      out.put(at, here, to);
    });
  }

  // Calls body(first element, position) for the positions along `count` interleaved lines.
  template <typename Body>
  void for_positions(int64_t start, Body&& body) const {
    for (int64_t i = 0; i < shape_.length; ++i) body(start + i * shape_.across, i);
  }

  // Sums over positions, by body(first element, partial sums).
  template <typename Body>
  void sum_positions(int64_t start, int64_t count, double* sums, Body&& body) const {
    T part[kAcross];
    std::fill_n(sums, count, 0.0);
    std::fill_n(part, count, T(0));
    for_positions(start, [&](int64_t at, int64_t i) {
      body(at, part);
      if ((i + 1) % kPlain != 0 && i + 1 != shape_.length) return;
      for (int64_t j = 0; j < count; ++j) sums[j] += static_cast<double>(part[j]);
      std::fill_n(part, count, T(0));
    });
  }

  void run_across(int64_t start, int64_t count) const {
    alignas(64) T values[kAcross];
    alignas(64) T placed[kAcross];
    alignas(64) T largest[kAcross];
    alignas(64) T scale[kAcross];
    double sums[kAcross];
    const auto n = static_cast<size_t>(count);
    std::fill_n(largest, count, -std::numeric_limits<T>::infinity());
    for_positions(start, [&](int64_t at, int64_t) { kernel_.largest_across(in.read(at, count, values), n, largest); });
    sum_positions(start, count, sums,
                  [&](int64_t at, T* part) { kernel_.sum_across(in.read(at, count, values), n, largest, part); });
    for (int64_t j = 0; j < count; ++j) scale[j] = static_cast<T>(log_ ? std::log(sums[j]) : 1 / sums[j]);
    for_positions(start, [&](int64_t at, int64_t) {
      const T* x = in.read(at, count, values);
      T* y = out.location(at, count, placed);
      kernel_.results_across(x, n, largest, scale, log_, y);
      out.put(at, count, y);
    });
  }

  void gradient_across(int64_t start, int64_t count) const {
    alignas(64) T values[kAcross];
    alignas(64) T grads[kAcross];
    alignas(64) T placed[kAcross];
    alignas(64) T sum[kAcross];
    double sums[kAcross];
    const auto n = static_cast<size_t>(count);
    sum_positions(start, count, sums, [&](int64_t at, T* part) {
      kernel_.gradient_sum_across(grad->read(at, count, grads), in.read(at, count, values), n, log_, part);
    });
    for (int64_t j = 0; j < count; ++j) sum[j] = static_cast<T>(sums[j]);
    for_positions(start, [&](int64_t at, int64_t) {
      const T* g = grad->read(at, count, grads);
      const T* y = in.read(at, count, values);
      T* to = out.location(at, count, placed);
      kernel_.gradient_across(g, y, n, sum, log_, to);
      out.put(at, count, to);
    });
  }

  SoftmaxLines<T> kernel_;
  Shape shape_;
  bool log_ = false;
  bool non_temporal_ = false;  // results are written with non-temporal stores
  NonTemporalCopy stream_ = non_temporal_copy();
  std::shared_ptr<const Describe> message_;
};

Status check(const aclTensor& tensor, const aclTensor& self, const char* role) {
  if (!is_known(tensor.dtype) || !is_floating(tensor.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " is ", describe(tensor), "; softmax is of floating-point numbers")};
  }
  if (tensor.dims == self.dims) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text(role, " has the shape ", describe_shape(tensor.dims), " where ",
                                        describe_shape(self.dims), " is needed")};
}

Status shape_of(const aclTensor& self, int64_t dim, Shape* shape) {
  const auto n = static_cast<int64_t>(self.dims.size());
  const int64_t range = std::max<int64_t>(n, 1);
  if (dim < -range || dim >= range) {
    return {ACLNN_ERR_PARAM_INVALID, text("dimension ", dim, " is out of range for ", describe(self), ": it is in [",
                                          -range, ", ", range - 1, "]")};
  }
  if (n == 0) return Status::ok();
  shape->dim = dim < 0 ? dim + n : dim;
  const auto at = static_cast<size_t>(shape->dim);
  shape->length = self.dims[at];
  for (int64_t size : self.dims) shape->lines *= size;
  if (shape->length != 0) shape->lines /= shape->length;
  // Lines are interleaved if the dimensions after `dim` are innermost in memory.
  int64_t after = 1;
  for (size_t i = at + 1; i < self.dims.size(); ++i) after *= self.dims[i];
  if (after > 1 && shape->length > 1 && self.strides[at] > self.strides.back()) shape->across = after;
  return Status::ok();
}

template <typename T>
Status plan_softmax(bool log, const Shape& shape, const aclTensor* grad, const aclTensor& in, const aclTensor& out,
                    Plan* plan) {
  auto task = std::make_shared<SoftmaxTask<T>>(log, shape, describe_later({&in}));
  // Contiguous lines are read with `dim` as the innermost dimension.
  const int64_t last = shape.across == 1 ? shape.dim : -1;
  FlatTensor flat;
  if (grad != nullptr) {
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*grad, last, "the gradient", &flat));
    task->grad.emplace(flat);
  }
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(in, last, "the input", &flat));
  task->in = FlatReader<T>(flat);
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(out, last, "the result", &flat));
  task->out = FlatWriter<T>(flat);
  const auto operands = task->operands();
  OperandRun<SoftmaxTask<T>, operands.size()>{std::move(task), operands}.put(plan);
  return Status::ok();
}

Status plan_any(bool log, int64_t dim, const aclTensor* grad, const aclTensor& in, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check(in, in, "the input"));
  SOFTNPU_RETURN_IF_ERROR(check(out, in, "the result"));
  if (grad != nullptr) SOFTNPU_RETURN_IF_ERROR(check(*grad, in, "the gradient"));
  Shape shape;
  SOFTNPU_RETURN_IF_ERROR(shape_of(in, dim, &shape));
  if (element_count(in) == 0) return plan_nothing(plan);
  const bool is_double =
      in.dtype == ACL_DOUBLE || out.dtype == ACL_DOUBLE || (grad != nullptr && grad->dtype == ACL_DOUBLE);
  return is_double ? plan_softmax<double>(log, shape, grad, in, out, plan)
                   : plan_softmax<float>(log, shape, grad, in, out, plan);
}

}  // namespace

Status softmax(bool log, const aclTensor& self, int64_t dim, const aclTensor& out, Plan* plan) {
  return plan_any(log, dim, nullptr, self, out, plan);
}

Status softmax_gradient(bool log, const aclTensor& grad, const aclTensor& output, int64_t dim, const aclTensor& out,
                        Plan* plan) {
  return plan_any(log, dim, &grad, output, out, plan);
}

}  // namespace softnpu
