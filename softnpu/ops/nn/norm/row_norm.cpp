#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/nn/norm/norms.h"
#include "ops/nn/norm/operands.h"
#include "ops/nn/norm/rows.h"
#include "simd/non_temporal.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kTile = 1024;
constexpr int64_t kGrain = 1 << 14;
constexpr double kFlopsPerValue = 32;
// The number of partial sums of weight gradients, independent of the number of threads.
constexpr int64_t kMaxParts = 16;

// The rows to be normalized: factor * x + added + shift.
template <typename T>
struct RowSum {
  NormRows<T> kernel = norm_rows<T>();
  double factor = 1;
  std::optional<FlatReader<T>> x, added, shift;

  // Reads `count` values of a row of `length` from `at`; a and b are buffers for them.
  const T* read(int64_t row, int64_t length, int64_t at, int64_t count, T* a, T* b) const {
    const T* v = x->read(row * length + at, count, a);
    if (factor != 1) {
      for (int64_t i = 0; i < count; ++i) a[i] = static_cast<T>(factor) * v[i];
      v = a;
    }
    if (added) {
      kernel.add(v, added->read(row * length + at, count, b), static_cast<size_t>(count), a);
      v = a;
    }
    if (shift) {
      kernel.add(v, shift->read(at, count, b), static_cast<size_t>(count), a);
      v = a;
    }
    return v;
  }
};

template <typename T>
class RowNormTask {
 public:
  NormRows<T> kernel = norm_rows<T>();
  NonTemporalCopy non_temporal = non_temporal_copy();
  bool centered = true;
  double eps = 0;
  double weight_offset = 0;
  int64_t rows = 0;
  int64_t length = 1;
  RowSum<T> values;
  std::optional<FlatReader<T>> weight, bias;
  std::optional<FlatWriter<T>> y, y_again, mean, rstd, variance, sum;

  void run() const {
    const int threads = threads_for(kFlopsPerValue * static_cast<double>(rows) * static_cast<double>(length));
    parallel_for(rows, std::max<int64_t>(1, kGrain / length), threads, [this](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) run_row(row);
      fence_non_temporal_stores();
    });
  }

 private:
  // Whether results are too large to remain in the caches.
  bool uses_non_temporal_stores() const {
    return rows * length * static_cast<int64_t>(sizeof(T)) >= kNonTemporalBytes && !y_again;
  }

  struct Buffers {
    alignas(64) T a[kTile];
    alignas(64) T b[kTile];
    alignas(64) T c[kTile];
  };

  void run_row(int64_t row) const {
    Buffers buffers;
    Moment moment;
    double squares = 0;
    for (int64_t at = 0; at < length; at += kTile) {
      const int64_t here = std::min(kTile, length - at);
      const T* v = values.read(row, length, at, here, buffers.a, buffers.b);
      if (sum) sum->put(row * length + at, here, v);
      if (centered) {
        moment.add(kernel.moment(v, static_cast<size_t>(here)));
      } else {
        squares += kernel.squares(v, static_cast<size_t>(here));
      }
    }
    const double spread = (centered ? moment.squares : squares) / static_cast<double>(length);
    const double scale = 1 / std::sqrt(spread + eps);
    put_value(mean, row, moment.mean);
    put_value(rstd, row, scale);
    put_value(variance, row, spread);
    const bool past_caches = uses_non_temporal_stores();
    for (int64_t at = 0; at < length; at += kTile) {
      const int64_t here = std::min(kTile, length - at);
      const int64_t first = row * length + at;
      const T* v = values.read(row, length, at, here, buffers.a, buffers.b);
      const T* w = weight ? weight->read(at, here, buffers.b) : nullptr;
      if (weight_offset != 0 && w != nullptr) {
        for (int64_t i = 0; i < here; ++i) buffers.b[i] = w[i] + static_cast<T>(weight_offset);
        w = buffers.b;
      }
      const T* b = bias ? bias->read(at, here, buffers.c) : nullptr;
      T* past = past_caches ? y->find(first, here) : nullptr;
      T* to = past == nullptr ? y->location(first, here, buffers.a) : buffers.a;
      kernel.normalize(v, static_cast<size_t>(here), static_cast<T>(moment.mean), static_cast<T>(scale), w, b, to);
      if (past != nullptr) {
        non_temporal(past, to, static_cast<size_t>(here) * sizeof(T), nullptr);
        continue;
      }
      y->put(first, here, to);
      if (y_again) y_again->put(first, here, to);
    }
  }
};

template <typename T>
class RowNormGradientTask {
 public:
  NormRows<T> kernel = norm_rows<T>();
  NonTemporalCopy non_temporal = non_temporal_copy();
  bool centered = true;
  int64_t rows = 0;
  int64_t length = 1;
  bool is_variance = false;  // whether `rstd` is a variance
  double eps = 0;
  RowSum<T> values;
  std::optional<FlatReader<T>> grad, mean, rstd, weight, dsum;
  std::optional<FlatWriter<T>> dx, dscaled, dweight, dbias;

  bool sums() const { return dweight || dbias; }
  // The rows of a part: for few elements enough that adding the parts' sums costs little.
  int64_t part() const {
    constexpr int64_t kFewElements = 1 << 18;
    const int64_t least = rows * length <= kFewElements ? kGroup : 1;
    return std::max(least, (rows + kMaxParts - 1) / kMaxParts);
  }
  int64_t parts() const { return rows == 0 ? 0 : (rows + part() - 1) / part(); }
  // Per part: the sums of the weight's gradient, then of the bias's.
  Checked workspace_bytes() const { return checked(sums() ? parts() : 0) * 2 * length * sizeof(double); }

  void run(void* workspace) const {
    const int threads = threads_for(kFlopsPerValue * static_cast<double>(rows) * static_cast<double>(length));
    auto* all = static_cast<double*>(workspace);
    parallel_for(parts(), 1, threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        double* own = sums() ? all + i * 2 * length : nullptr;
        if (own != nullptr) std::fill_n(own, 2 * length, 0.0);
        const int64_t end = std::min(rows, (i + 1) * part());
        for (int64_t row = i * part(); row < end; row += kGroup) {
          const int64_t here = std::min(kGroup, end - row);
          if (own != nullptr) sum_rows(row, here, own);
          for (int64_t j = row; dx && j < row + here; ++j) run_row(j);
        }
        fence_non_temporal_stores();
      }
    });
    if (dweight) put_sums(*dweight, all, 0);
    if (dbias) put_sums(*dbias, all, length);
  }

 private:
  // Whether the input's gradient is too large to remain in the caches.
  bool uses_non_temporal_stores() const {
    return !dsum && !dscaled && rows * length * static_cast<int64_t>(sizeof(T)) >= kNonTemporalBytes;
  }

  // Rows that are added to the sums in one pass.
  static constexpr int64_t kGroup = 8;

  struct Statistics {
    T mean;
    T scale;
  };
  Statistics statistics(int64_t row) const {
    T scale = value_of(rstd, row, T(1));
    if (is_variance) scale = static_cast<T>(1 / std::sqrt(static_cast<double>(scale) + eps));
    return {centered ? value_of(mean, row, T(0)) : T(0), scale};
  }

  void sum_rows(int64_t first, int64_t count, double* own) const {
    alignas(64) T gs[kGroup][kTile];
    alignas(64) T xs[kGroup][kTile];
    alignas(64) T added[kTile];
    NormGradientRow<T> all[kGroup];
    for (int64_t j = 0; j < count; ++j) {
      const Statistics of = statistics(first + j);
      all[j].mean = of.mean;
      all[j].scale = of.scale;
    }
    for (int64_t at = 0; at < length; at += kTile) {
      const int64_t here = std::min(kTile, length - at);
      for (int64_t j = 0; j < count; ++j) {
        all[j].g = grad->read((first + j) * length + at, here, gs[j]);
        all[j].x = values.read(first + j, length, at, here, xs[j], added);
      }
      kernel.weight_gradient(all, static_cast<size_t>(count), static_cast<size_t>(here), dweight ? own + at : nullptr,
                             dbias ? own + length + at : nullptr);
    }
  }

  void run_row(int64_t row) const {
    alignas(64) T gs[kTile];
    alignas(64) T xs[kTile];
    alignas(64) T ws[kTile];  // of the weight or of `added`
    const auto [center, scale] = statistics(row);
    GradientSums sum;
    for (int64_t at = 0; at < length; at += kTile) {
      const int64_t here = std::min(kTile, length - at);
      const auto n = static_cast<size_t>(here);
      const T* g = grad->read(row * length + at, here, gs);
      const T* v = values.read(row, length, at, here, xs, ws);
      const GradientSums part =
          kernel.gradient_sums(g, v, n, center, scale, weight ? weight->read(at, here, ws) : nullptr);
      sum.g += part.g;
      sum.gz += part.gz;
    }
    const T a = centered ? static_cast<T>(sum.g / static_cast<double>(length)) : T(0);
    const T b = static_cast<T>(sum.gz / static_cast<double>(length));
    const bool past_caches = uses_non_temporal_stores();
    for (int64_t at = 0; at < length; at += kTile) {
      const int64_t here = std::min(kTile, length - at);
      const int64_t first = row * length + at;
      const T* g = grad->read(first, here, gs);
      const T* v = values.read(row, length, at, here, xs, ws);
      T* past = past_caches ? dx->find(first, here) : nullptr;
      T* to = past == nullptr ? dx->location(first, here, xs) : xs;
      kernel.gradient(g, v, static_cast<size_t>(here), center, scale, weight ? weight->read(at, here, ws) : nullptr,
                      scale, a, b, to);
      if (past != nullptr) {
        non_temporal(past, to, static_cast<size_t>(here) * sizeof(T), nullptr);
        continue;
      }
      if (dsum) kernel.add(to, dsum->read(first, here, ws), static_cast<size_t>(here), to);
      dx->put(first, here, to);
      if (!dscaled) continue;
      T* scaled = dscaled->location(first, here, ws);
      for (int64_t i = 0; i < here; ++i) scaled[i] = static_cast<T>(values.factor) * to[i];
      dscaled->put(first, here, scaled);
    }
  }

  void put_sums(const FlatWriter<T>& to, const double* all, int64_t offset) const {
    T values[kTile];
    double totals[kTile];
    for (int64_t at = 0; at < length; at += kTile) {
      const int64_t here = std::min(kTile, length - at);
      std::fill_n(totals, here, 0.0);
      for (int64_t i = 0; i < parts(); ++i) {
        const double* of_part = all + i * 2 * length + offset + at;
        for (int64_t j = 0; j < here; ++j) totals[j] += of_part[j];
      }
      for (int64_t j = 0; j < here; ++j) values[j] = static_cast<T>(totals[j]);
      to.put(at, here, values);
    }
  }
};

template <typename T>
Status plan_forward(const RowNorm& norm, int64_t rows, Plan* plan) {
  auto task = std::make_shared<RowNormTask<T>>();
  const int64_t length = norm.length;
  const int64_t count = rows * length;
  SOFTNPU_RETURN_IF_ERROR(open(norm.x, "the input", count, &task->values.x));
  SOFTNPU_RETURN_IF_ERROR(open(norm.added, "x2", count, &task->values.added));
  SOFTNPU_RETURN_IF_ERROR(open(norm.shift, "the bias", length, &task->values.shift));
  SOFTNPU_RETURN_IF_ERROR(open(norm.weight, "the weight", length, &task->weight));
  SOFTNPU_RETURN_IF_ERROR(open(norm.bias, "the bias", length, &task->bias));
  SOFTNPU_RETURN_IF_ERROR(open(norm.y, "the result", count, &task->y));
  SOFTNPU_RETURN_IF_ERROR(open(norm.y_again, "the second result", count, &task->y_again));
  SOFTNPU_RETURN_IF_ERROR(open(norm.mean, "the mean", rows, &task->mean));
  SOFTNPU_RETURN_IF_ERROR(open(norm.rstd, "rstd", rows, &task->rstd));
  SOFTNPU_RETURN_IF_ERROR(open(norm.variance, "the variance", rows, &task->variance));
  SOFTNPU_RETURN_IF_ERROR(open(norm.sum, "the sum", count, &task->sum));
  if (count == 0) return plan_nothing(plan);
  task->values.factor = norm.factor;
  task->centered = norm.centered;
  task->eps = norm.eps;
  task->weight_offset = norm.weight_offset;
  task->rows = rows;
  task->length = length;
  plan->work = kFlopsPerValue * static_cast<double>(count);
  plan->describe = describe_later({norm.x});
  plan->run = [task = std::shared_ptr<const RowNormTask<T>>(task)](void*) {
    task->run();
    return Status::ok();
  };
  return Status::ok();
}

template <typename T>
Status plan_backward(const RowNormGradient& norm, int64_t rows, Plan* plan) {
  auto task = std::make_shared<RowNormGradientTask<T>>();
  const int64_t length = norm.length;
  const int64_t count = rows * length;
  SOFTNPU_RETURN_IF_ERROR(open(norm.grad, "the gradient", count, &task->grad));
  SOFTNPU_RETURN_IF_ERROR(open(norm.x, "the input", count, &task->values.x));
  SOFTNPU_RETURN_IF_ERROR(open(norm.added, "x2", count, &task->values.added));
  SOFTNPU_RETURN_IF_ERROR(open(norm.dsum, "the sum's gradient", count, &task->dsum));
  SOFTNPU_RETURN_IF_ERROR(open(norm.dscaled, "the gradient of the scaled input", count, &task->dscaled));
  SOFTNPU_RETURN_IF_ERROR(open(norm.mean, "the mean", rows, &task->mean));
  SOFTNPU_RETURN_IF_ERROR(open(norm.rstd, "rstd", rows, &task->rstd));
  SOFTNPU_RETURN_IF_ERROR(open(norm.weight, "the weight", length, &task->weight));
  SOFTNPU_RETURN_IF_ERROR(open(norm.dx, "the input's gradient", count, &task->dx));
  SOFTNPU_RETURN_IF_ERROR(open(norm.dweight, "the weight's gradient", length, &task->dweight));
  SOFTNPU_RETURN_IF_ERROR(open(norm.dbias, "the bias's gradient", length, &task->dbias));
  task->values.factor = norm.factor;
  task->centered = norm.centered;
  task->is_variance = norm.is_variance;
  task->eps = norm.eps;
  task->rows = rows;
  task->length = length;
  plan->work = kFlopsPerValue * static_cast<double>(count);
  plan->workspace_bytes = task->workspace_bytes();
  plan->describe = describe_later({norm.x});
  plan->run = [task = std::shared_ptr<const RowNormGradientTask<T>>(task)](void* workspace) {
    task->run(workspace);
    return Status::ok();
  };
  return Status::ok();
}

Status rows_of(const aclTensor& x, int64_t length, int64_t* rows) {
  const int64_t count = element_count(x);
  *rows = length == 0 ? 0 : count / length;
  if (length != 0 && *rows * length != count) {
    return {ACLNN_ERR_PARAM_INVALID, text(describe(x), " has no rows of ", length, " elements")};
  }
  return Status::ok();
}

bool is_double(const aclTensor& x) { return x.dtype == ACL_DOUBLE; }

// Checks that the last dimensions are those of `shape`.
Status check_tail(const aclTensor& x, std::span<const int64_t> shape, int64_t* length) {
  *length = 1;
  for (int64_t size : shape) *length *= size;
  const size_t n = x.dims.size();
  if (shape.size() <= n && !shape.empty() &&
      std::equal(shape.begin(), shape.end(), x.dims.end() - static_cast<ptrdiff_t>(shape.size()))) {
    return Status::ok();
  }
  return {ACLNN_ERR_PARAM_INVALID, text("the last dimensions of ", describe(x), " are not ", describe_shape(shape))};
}

std::span<const int64_t> span_of(const aclIntArray& shape) { return {shape.begin(), shape.size()}; }
std::span<const int64_t> span_of(const Dims& dims) { return {dims.begin(), dims.size()}; }

}  // namespace

Status plan_row_norm(const RowNorm& norm, Plan* plan) {
  int64_t rows = 0;
  SOFTNPU_RETURN_IF_ERROR(rows_of(*norm.x, norm.length, &rows));
  return is_double(*norm.x) ? plan_forward<double>(norm, rows, plan) : plan_forward<float>(norm, rows, plan);
}

Status plan_row_norm_gradient(const RowNormGradient& norm, Plan* plan) {
  int64_t rows = 0;
  SOFTNPU_RETURN_IF_ERROR(rows_of(*norm.x, norm.length, &rows));
  return is_double(*norm.x) ? plan_backward<double>(norm, rows, plan) : plan_backward<float>(norm, rows, plan);
}

Status layer_norm(const aclTensor& x, const aclIntArray& shape, const aclTensor* weight, const aclTensor* bias,
                  double eps, const aclTensor& y, const aclTensor* mean, const aclTensor* rstd, Plan* plan) {
  RowNorm norm;
  SOFTNPU_RETURN_IF_ERROR(check_tail(x, span_of(shape), &norm.length));
  norm.eps = eps;
  norm.x = &x;
  norm.weight = weight;
  norm.bias = bias;
  norm.y = &y;
  norm.mean = mean;
  norm.rstd = rstd;
  return plan_row_norm(norm, plan);
}

Status layer_norm_gradient(const aclTensor& grad, const aclTensor& x, const aclIntArray& shape, const aclTensor& mean,
                           const aclTensor& rstd, const aclTensor* weight, const aclBoolArray& mask,
                           const aclTensor* dx, const aclTensor* dweight, const aclTensor* dbias, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(masks(mask, &dx, &dweight, &dbias));
  RowNormGradient norm;
  SOFTNPU_RETURN_IF_ERROR(check_tail(x, span_of(shape), &norm.length));
  norm.grad = &grad;
  norm.x = &x;
  norm.mean = &mean;
  norm.rstd = &rstd;
  norm.weight = weight;
  norm.dx = dx;
  norm.dweight = dweight;
  norm.dbias = dbias;
  return plan_row_norm_gradient(norm, plan);
}

namespace {

RowNorm rms_norm_of(const aclTensor& x, const aclTensor& weight, double eps, const aclTensor& y,
                    const aclTensor* rstd) {
  RowNorm norm;
  norm.centered = false;
  norm.eps = eps;
  norm.x = &x;
  norm.weight = &weight;
  norm.y = &y;
  norm.rstd = rstd;
  return norm;
}

}  // namespace

Status rms_norm(const aclTensor& x, const aclTensor& weight, double eps, const aclTensor& y, const aclTensor* rstd,
                Plan* plan) {
  RowNorm norm = rms_norm_of(x, weight, eps, y, rstd);
  SOFTNPU_RETURN_IF_ERROR(check_tail(x, span_of(weight.dims), &norm.length));
  return plan_row_norm(norm, plan);
}

Status gemma_rms_norm(const aclTensor& x, const aclTensor& weight, double eps, const aclTensor& y,
                      const aclTensor* rstd, Plan* plan) {
  RowNorm norm = rms_norm_of(x, weight, eps, y, rstd);
  SOFTNPU_RETURN_IF_ERROR(check_tail(x, span_of(weight.dims), &norm.length));
  norm.weight_offset = 1;
  return plan_row_norm(norm, plan);
}

Status rms_norm_gradient(const aclTensor& grad, const aclTensor& x, const aclTensor& rstd, const aclTensor& weight,
                         const aclTensor& dx, const aclTensor& dweight, Plan* plan) {
  RowNormGradient norm;
  SOFTNPU_RETURN_IF_ERROR(check_tail(x, span_of(weight.dims), &norm.length));
  norm.centered = false;
  norm.grad = &grad;
  norm.x = &x;
  norm.rstd = &rstd;
  norm.weight = &weight;
  norm.dx = &dx;
  norm.dweight = &dweight;
  return plan_row_norm_gradient(norm, plan);
}

Status add_rms_norm(const aclTensor& a, const aclTensor& b, const aclTensor& weight, double eps, const aclTensor& y,
                    const aclTensor* y_again, const aclTensor* rstd, const aclTensor* sum, Plan* plan) {
  RowNorm norm;
  SOFTNPU_RETURN_IF_ERROR(check_tail(a, span_of(weight.dims), &norm.length));
  norm.centered = false;
  norm.eps = eps;
  norm.x = &a;
  norm.added = &b;
  norm.weight = &weight;
  norm.y = &y;
  norm.y_again = y_again;
  norm.rstd = rstd;
  norm.sum = sum;
  return plan_row_norm(norm, plan);
}

Status add_layer_norm(const aclTensor& a, const aclTensor& b, const aclTensor& weight, const aclTensor& bias,
                      const aclTensor* shift, double eps, bool wants_sum, const aclTensor& y, const aclTensor* mean,
                      const aclTensor* rstd, const aclTensor* sum, Plan* plan) {
  RowNorm norm;
  SOFTNPU_RETURN_IF_ERROR(check_tail(a, span_of(weight.dims), &norm.length));
  norm.eps = eps;
  norm.x = &a;
  norm.added = &b;
  norm.shift = shift;
  norm.weight = &weight;
  norm.bias = &bias;
  norm.y = &y;
  norm.mean = mean;
  norm.rstd = rstd;
  norm.sum = wants_sum ? sum : nullptr;
  return plan_row_norm(norm, plan);
}

Status add_layer_norm_gradient(const aclTensor& grad, const aclTensor& a, const aclTensor& b, const aclTensor& rstd,
                               const aclTensor& mean, const aclTensor& weight, const aclTensor* dsum,
                               const aclTensor& dx, const aclTensor& dweight, const aclTensor& dbias, Plan* plan) {
  RowNormGradient norm;
  SOFTNPU_RETURN_IF_ERROR(check_tail(a, span_of(weight.dims), &norm.length));
  norm.grad = &grad;
  norm.x = &a;
  norm.added = &b;
  norm.mean = &mean;
  norm.rstd = &rstd;
  norm.weight = &weight;
  norm.dsum = dsum;
  norm.dx = &dx;
  norm.dweight = &dweight;
  norm.dbias = &dbias;
  return plan_row_norm_gradient(norm, plan);
}

Status deep_norm(const aclTensor& x, const aclTensor& added, const aclTensor& bias, const aclTensor& weight,
                 double factor, double eps, const aclTensor* mean, const aclTensor* rstd, const aclTensor& y,
                 Plan* plan) {
  RowNorm norm;
  SOFTNPU_RETURN_IF_ERROR(check_tail(x, span_of(weight.dims), &norm.length));
  norm.eps = eps;
  norm.x = &x;
  norm.factor = factor;
  norm.added = &added;
  norm.weight = &weight;
  norm.bias = &bias;
  norm.y = &y;
  norm.mean = mean;
  norm.rstd = rstd;
  return plan_row_norm(norm, plan);
}

Status deep_norm_gradient(const aclTensor& grad, const aclTensor& x, const aclTensor& added, const aclTensor& weight,
                          const aclTensor& mean, const aclTensor& rstd, double factor, const aclTensor& dx,
                          const aclTensor& dadded, const aclTensor& dbias, const aclTensor& dweight, Plan* plan) {
  RowNormGradient norm;
  SOFTNPU_RETURN_IF_ERROR(check_tail(x, span_of(weight.dims), &norm.length));
  norm.grad = &grad;
  norm.x = &x;
  norm.factor = factor;
  norm.added = &added;
  norm.mean = &mean;
  norm.rstd = &rstd;
  norm.weight = &weight;
  norm.dx = &dadded;
  norm.dscaled = &dx;
  norm.dweight = &dweight;
  norm.dbias = &dbias;
  return plan_row_norm_gradient(norm, plan);
}

}  // namespace softnpu
