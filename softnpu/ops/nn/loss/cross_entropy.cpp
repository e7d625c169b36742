#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/invalid.h"
#include "ops/core/iterate/flat.h"
#include "ops/core/listed.h"
#include "ops/nn/loss/losses.h"
#include "ops/nn/softmax/slice_kernels.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // values per piece
constexpr double kFlopsPerValue = 24;

enum class Reduction : uint8_t { kNone, kMean, kSum };

// The data of both directions: rows of class values, and the target class of each.
template <typename T>
struct Rows {
  Reduction reduction = Reduction::kMean;
  int64_t rows = 0;
  int64_t classes = 0;
  int64_t ignore = -100;
  double smoothing = 0;
  FlatTensor target;
  ElementReader target_reader;
  std::optional<FlatReader<T>> given_weight;

  // Data that a launch reads before it divides the work: the weights, and each row's class (-1: ignored).
  struct Labels {
    std::vector<int64_t> of_row;
    std::vector<T> weight;
    double all_weights = 0;  // sum of all class weights
    double total = 0;        // sum of the weights of the rows' classes
  };

  Status read_labels(Labels* out) const {
    out->of_row.resize(static_cast<size_t>(rows));
    out->weight.assign(static_cast<size_t>(classes), T{1});
    if (given_weight) {
      const T* const found = given_weight->read(0, classes, out->weight.data());
      std::copy_n(found, found == out->weight.data() ? 0 : classes, out->weight.data());
    }
    for (const T w : out->weight) out->all_weights += static_cast<double>(w);
    int64_t* to = out->of_row.data();
    target.for_runs(0, rows, [&](const char* from, ptrdiff_t stride, int64_t here) {
      target_reader.read(from, stride, static_cast<size_t>(here), to);
      to += here;
    });
    for (int64_t& label : out->of_row) {
      if (label == ignore) {
        label = -1;
      } else if (label < 0 || label >= classes) {
        return invalid(text("target ", label, " is out of range: there are ", classes, " classes"));
      } else {
        out->total += static_cast<double>(out->weight[static_cast<size_t>(label)]);
      }
    }
    return Status::ok();
  }

  template <typename Body>
  void for_rows(const Body& body) const {
    const int threads = threads_for(flops());
    parallel_for(rows, std::max<int64_t>(1, kGrain / classes), threads, [&](int64_t first, int64_t last) {
      std::vector<T> in(static_cast<size_t>(classes));
      std::vector<T> out(static_cast<size_t>(classes));
      std::vector<T> more(static_cast<size_t>(classes));
      for (int64_t row = first; row < last; ++row) body(row, in.data(), out.data(), more.data());
    });
  }
  double flops() const { return kFlopsPerValue * static_cast<double>(rows) * static_cast<double>(classes); }
};

template <typename T>
struct CrossEntropy {
  Rows<T> rows;
  FlatReader<T> x;
  FlatWriter<T> loss, log_prob;

  Status run() const {
    typename Rows<T>::Labels labels;
    SOFTNPU_RETURN_IF_ERROR(rows.read_labels(&labels));
    std::vector<double> losses(static_cast<size_t>(rows.rows));
    rows.for_rows(
        [&](int64_t row, T* in, T* out, T*) { losses[static_cast<size_t>(row)] = run_row(labels, row, in, out); });
    if (rows.reduction == Reduction::kNone) {
      const std::vector<T> rounded(losses.begin(), losses.end());
      loss.put(0, rows.rows, rounded.data());
      return Status::ok();
    }
    double sum = 0;
    for (const double one : losses) sum += one;
    const T created = static_cast<T>(rows.reduction == Reduction::kMean ? sum / labels.total : sum);
    loss.put(0, 1, &created);
    return Status::ok();
  }

 private:
  double run_row(const typename Rows<T>::Labels& labels, int64_t row, T* in, T* out) const {
    const int64_t first = row * rows.classes;
    const T* const values = x.read(first, rows.classes, in);
    T* const to = log_prob.location(first, rows.classes, out);
    softmax_lines<T>().whole(values, static_cast<size_t>(rows.classes), true, to);
    const int64_t label = labels.of_row[static_cast<size_t>(row)];
    double result = 0;
    if (label >= 0) {
      result = -(1 - rows.smoothing) * static_cast<double>(labels.weight[static_cast<size_t>(label)]) *
               static_cast<double>(to[label]);
      double all = 0;
      for (int64_t c = 0; rows.smoothing != 0 && c < rows.classes; ++c) {
        all += static_cast<double>(labels.weight[static_cast<size_t>(c)]) * static_cast<double>(to[c]);
      }
      result -= rows.smoothing / static_cast<double>(rows.classes) * all;
    }
    log_prob.put(first, rows.classes, to);
    return result;
  }
};

template <typename T>
struct CrossEntropyGradient {
  Rows<T> rows;
  FlatReader<T> grad, log_prob;
  FlatWriter<T> dx;

  Status run() const {
    typename Rows<T>::Labels labels;
    SOFTNPU_RETURN_IF_ERROR(rows.read_labels(&labels));
    rows.for_rows([&](int64_t row, T* in, T* out, T* arriving) { run_row(labels, row, in, out, arriving); });
    return Status::ok();
  }

 private:
  // The gradient of log_softmax. Its incoming gradient is -(1 - s) w[label] at the label, plus -s / C w[c] for every
  // class.
  void run_row(const typename Rows<T>::Labels& labels, int64_t row, T* in, T* out, T* arriving) const {
    const int64_t first = row * rows.classes;
    T* const to = dx.location(first, rows.classes, out);
    const int64_t label = labels.of_row[static_cast<size_t>(row)];
    if (label < 0) {
      std::fill_n(to, rows.classes, T{});
    } else {
      T buffer{};
      const double loss_grad =
          static_cast<double>(*grad.read(rows.reduction == Reduction::kNone ? row : 0, 1, &buffer));
      const double factor = loss_grad / (rows.reduction == Reduction::kMean ? labels.total : 1);
      const double share = factor * rows.smoothing / static_cast<double>(rows.classes);
      const double own = factor * (1 - rows.smoothing) * static_cast<double>(labels.weight[static_cast<size_t>(label)]);
      for (int64_t c = 0; c < rows.classes; ++c) {
        arriving[c] = -static_cast<T>(share) * labels.weight[static_cast<size_t>(c)];
      }
      arriving[label] -= static_cast<T>(own);
      softmax_lines<T>().gradient(arriving, log_prob.read(first, rows.classes, in), static_cast<size_t>(rows.classes),
                                  -own - share * labels.all_weights, true, to);
    }
    dx.put(first, rows.classes, to);
  }
};

Status check_floating(std::initializer_list<const aclTensor*> tensors) {
  for (const aclTensor* tensor : tensors) {
    if (tensor == nullptr || (is_known(tensor->dtype) && is_floating(tensor->dtype))) continue;
    return invalid(text("a loss is of floating-point numbers, not of ", describe(*tensor)));
  }
  return Status::ok();
}

Status check_count(const aclTensor& tensor, const char* role, int64_t count) {
  if (element_count(tensor) == count) return Status::ok();
  return invalid(text(role, " is ", describe(tensor), " where ", count, " elements are needed"));
}

Status check_attributes(const CrossEntropyAttributes& a, Reduction* out) {
  const std::string_view name = a.reduction == nullptr ? "" : a.reduction;
  if (name != "none" && name != "mean" && name != "sum") {
    return invalid(text("reduction '", name, "' does not exist: it is none, mean or sum"));
  }
  *out = name == "none" ? Reduction::kNone : name == "mean" ? Reduction::kMean : Reduction::kSum;
  if (!(a.smoothing >= 0 && a.smoothing <= 1))
    return invalid(text("labelSmoothing is ", a.smoothing, ", not in [0, 1]"));
  if (a.square_scale == 0 && !a.wants_zloss) return Status::ok();
  return invalid("zloss is not defined here: lseSquareScaleForZloss is 0 and returnZloss false");
}

template <typename T>
Status make_rows(const aclTensor& x, const aclTensor& target, const aclTensor* weight, const CrossEntropyAttributes& a,
                 Rows<T>* out) {
  if (x.dims.size() != 2 || target.dims.size() != 1 || target.dims[0] != x.dims[0] || x.dims[1] < 1 ||
      (target.dtype != ACL_INT64 && target.dtype != ACL_INT32)) {
    return invalid(text("values ", describe(x), " and target ", describe(target),
                        " do not belong together: they are [N, C] and int64 or int32 [N]"));
  }
  SOFTNPU_RETURN_IF_ERROR(check_attributes(a, &out->reduction));
  out->rows = x.dims[0];
  out->classes = x.dims[1];
  SOFTNPU_RETURN_IF_ERROR(check_listed(checked(out->rows), "rows"));
  SOFTNPU_RETURN_IF_ERROR(check_listed(checked(out->classes), "classes"));
  out->ignore = a.ignore_index;
  out->smoothing = a.smoothing;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(target, -1, "target", &out->target));
  out->target_reader = ElementReader(target.dtype, ACL_INT64);
  if (weight == nullptr) return Status::ok();
  SOFTNPU_RETURN_IF_ERROR(check_count(*weight, "weight", out->classes));
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*weight, -1, "weight", &flat));
  out->given_weight.emplace(std::move(flat));
  return Status::ok();
}

template <typename Accessor>
Status open(const aclTensor& tensor, const char* role, int64_t count, Accessor* out) {
  SOFTNPU_RETURN_IF_ERROR(check_count(tensor, role, count));
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(tensor, -1, role, &flat));
  *out = Accessor(std::move(flat));
  return Status::ok();
}

template <typename Task>
Status finish(std::shared_ptr<const Task> task, const aclTensor& x, const aclTensor& target, Plan* plan) {
  plan->work = task->rows.flops();
  plan->describe = describe_later({&x, &target});
  plan->run = [task = std::move(task)](void*) { return task->run(); };
  return Status::ok();
}

template <typename T>
Status plan_loss(const CrossEntropyAttributes& a, const aclTensor& x, const aclTensor& target, const aclTensor* weight,
                 const aclTensor& loss, const aclTensor& log_prob, Plan* plan) {
  auto task = std::make_shared<CrossEntropy<T>>();
  SOFTNPU_RETURN_IF_ERROR(make_rows(x, target, weight, a, &task->rows));
  const Rows<T>& rows = task->rows;
  SOFTNPU_RETURN_IF_ERROR(open(x, "the input", rows.rows * rows.classes, &task->x));
  SOFTNPU_RETURN_IF_ERROR(open(log_prob, "logProb", rows.rows * rows.classes, &task->log_prob));
  SOFTNPU_RETURN_IF_ERROR(open(loss, "loss", rows.reduction == Reduction::kNone ? rows.rows : 1, &task->loss));
  return finish<CrossEntropy<T>>(std::move(task), x, target, plan);
}

template <typename T>
Status plan_gradient(const CrossEntropyAttributes& a, const aclTensor& grad, const aclTensor& log_prob,
                     const aclTensor& target, const aclTensor* weight, const aclTensor& dx, Plan* plan) {
  auto task = std::make_shared<CrossEntropyGradient<T>>();
  SOFTNPU_RETURN_IF_ERROR(make_rows(log_prob, target, weight, a, &task->rows));
  const Rows<T>& rows = task->rows;
  SOFTNPU_RETURN_IF_ERROR(open(grad, "gradLoss", rows.reduction == Reduction::kNone ? rows.rows : 1, &task->grad));
  SOFTNPU_RETURN_IF_ERROR(open(log_prob, "logProb", rows.rows * rows.classes, &task->log_prob));
  SOFTNPU_RETURN_IF_ERROR(open(dx, "the gradient", rows.rows * rows.classes, &task->dx));
  return finish<CrossEntropyGradient<T>>(std::move(task), log_prob, target, plan);
}

}  // namespace

Status cross_entropy(const CrossEntropyAttributes& a, const aclTensor& x, const aclTensor& target,
                     const aclTensor* weight, const aclTensor& loss, const aclTensor& log_prob, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_floating({&x, weight, &loss, &log_prob}));
  return x.dtype == ACL_DOUBLE ? plan_loss<double>(a, x, target, weight, loss, log_prob, plan)
                               : plan_loss<float>(a, x, target, weight, loss, log_prob, plan);
}

Status cross_entropy_gradient(const CrossEntropyAttributes& a, const aclTensor& grad, const aclTensor& log_prob,
                              const aclTensor& target, const aclTensor* weight, const aclTensor& dx, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_floating({&grad, &log_prob, weight, &dx}));
  return log_prob.dtype == ACL_DOUBLE ? plan_gradient<double>(a, grad, log_prob, target, weight, dx, plan)
                                      : plan_gradient<float>(a, grad, log_prob, target, weight, dx, plan);
}

}  // namespace softnpu
