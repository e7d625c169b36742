#include <cmath>
#include <complex>
#include <limits>
#include <memory>

#include "base/text.h"
#include "ops/core/dtype.h"
#include "ops/core/tensor_memory.h"
#include "ops/list/foreach/chunks.h"
#include "ops/list/foreach/foreach.h"
#include "ops/list/foreach/list_plan.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The cost of one element in the operations of threads_for.
constexpr double kFlopsPerElement = 16;

double magnitude(float x) { return std::fabs(static_cast<double>(x)); }
double magnitude(double x) { return std::fabs(x); }
template <typename T>
double magnitude(std::complex<T> x) {
  return std::abs(std::complex<double>(x));
}

double square(float x) { return static_cast<double>(x) * static_cast<double>(x); }
double square(double x) { return x * x; }
template <typename T>
double square(std::complex<T> x) {
  return std::norm(std::complex<double>(x));
}

// Sums of eight interleaved parts, so that vectors can hold them; always in this order.
template <typename T, typename Term>
double sum(const T* values, size_t count, Term&& term) {
  constexpr size_t kParts = 8;
  double parts[kParts] = {};
  size_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (size_t k = 0; k < kParts; ++k) parts[k] += term(values[i + k]);
  }
  for (size_t k = 0; i + k < count; ++k) parts[k] += term(values[i + k]);
  return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

// NaN if either is NaN.
double greater(double a, double b) { return a > b || a != a ? a : b; }
double lesser(double a, double b) { return a < b || a != a ? a : b; }

// A norm as a reduction: part() of some values, join() of two parts, finish() of the result.
struct Order {
  double p = 2;

  double start() const { return p == -std::numeric_limits<double>::infinity() ? -p : 0; }
  double join(double a, double b) const {
    if (!std::isinf(p)) return a + b;
    return p > 0 ? greater(a, b) : lesser(a, b);
  }
  double finish(double all) const {
    if (std::isinf(p) || p == 0 || p == 1) return all;
    return p == 2 ? std::sqrt(all) : std::pow(all, 1 / p);
  }
  template <typename T>
  double part(const T* values, size_t count) const {
    if (std::isinf(p)) {
      double all = start();
      for (size_t i = 0; i < count; ++i) all = join(magnitude(values[i]), all);
      return all;
    }
    if (p == 0) return sum(values, count, [](T x) { return x != T(0) ? 1.0 : 0.0; });
    if (p == 1) return sum(values, count, [](T x) { return magnitude(x); });
    if (p == 2) return sum(values, count, [](T x) { return square(x); });
    return sum(values, count, [this](T x) { return std::pow(magnitude(x), p); });
  }
};

struct Task {
  Order order;
  ListPieces list;
  std::vector<ComputeType> compute_types;
  std::vector<void*> results;
  std::vector<ElementWriter> writers;
  int threads = 1;

  void run(double* parts) const {
    parallel_for(static_cast<int64_t>(list.pieces.size()), 1, threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) parts[i] = part(list.pieces[static_cast<size_t>(i)]);
    });
    std::vector<double> all;
    for (size_t i = 0; i < results.size(); ++i) all.push_back(order_of(i).start());
    for (size_t i = 0; i < list.pieces.size(); ++i) {
      const size_t tensor = list.pieces[i].tensor;
      all[tensor] = order_of(tensor).join(parts[i], all[tensor]);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const double norm = list.tensors[i].count() == 0 ? 0 : order_of(i).finish(all[i]);
      writers[i].write(&norm, 1, results[i], 0);
    }
  }

  // For one element every norm is its magnitude, whose power could overflow.
  Order order_of(size_t tensor) const {
    const bool is_one = list.tensors[tensor].count() == 1 && order.p != 0;
    return is_one ? Order{1} : order;
  }

  double part(const ListChunk& chunk) const {
    const Order order = order_of(chunk.tensor);
    double all = order.start();
    with_compute_type(compute_types[chunk.tensor], [&]<typename T>() {
      if constexpr (!std::is_integral_v<T>) {
        list.tensors[chunk.tensor].run(chunk.first, chunk.last, [&](int64_t, void* const* values, size_t count) {
          all = order.join(order.part(static_cast<const T*>(values[0]), count), all);
        });
      }
    });
    return all;
  }
};

}  // namespace

Status foreach_norm(const aclTensorList& x, const aclScalar& ord, const aclTensorList& out, Plan* plan) {
  auto task = std::make_shared<Task>();
  task->order.p = ord.as_double();
  if (ord.is_complex() || std::isnan(task->order.p)) {
    return {ACLNN_ERR_PARAM_INVALID, "the order of a norm is a real number"};
  }
  SOFTNPU_RETURN_IF_ERROR(cut_list(x, "x", Tiles::Access::kRead, &task->list));
  SOFTNPU_RETURN_IF_ERROR(check_list(out, "out", x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    if (element_count(*out[i]) != 1 || !is_known(out[i]->dtype) || !is_floating(out[i]->dtype)) {
      return {ACLNN_ERR_PARAM_INVALID, text("out[", i, "] has to be one floating-point number")};
    }
    void* result = nullptr;
    SOFTNPU_RETURN_IF_ERROR(tensor_memory(*out[i], "out", &result));
    task->results.push_back(result);
    task->writers.emplace_back(ACL_DOUBLE, out[i]->dtype);
    task->compute_types.push_back(compute_type_of(x[i]->dtype));
  }
  const double cost = kFlopsPerElement * task->list.elements;
  task->threads = threads_for(cost);
  plan->workspace_bytes = checked(task->list.pieces.size()) * sizeof(double);
  plan->work = cost;
  plan->describe = [count = x.size()] { return text("(", count, " tensors)"); };
  plan->run = [task = std::shared_ptr<const Task>(std::move(task))](void* workspace) {
    task->run(static_cast<double*>(workspace));
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
