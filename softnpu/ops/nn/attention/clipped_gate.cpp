// SwiGLU with limits, of pairs or halves (OpenAI, gpt-oss, 2025).

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/flat.h"
#include "ops/nn/attention/gate.h"
#include "ops/nn/attention/row_task.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

Status bad_gate(std::string message) { return {ACLNN_ERR_PARAM_INVALID, std::move(message)}; }

template <typename T>
struct ClippedTask {
  FlatReader<T> x;
  FlatReader<double> group_index;
  FlatWriter<T> out;
  ClippedGate gate;
  int64_t rows = 0, half = 0, groups = -1;

  Status run() const {
    int64_t active = rows;
    if (groups >= 0) SOFTNPU_RETURN_IF_ERROR(sum_groups(&active));
    const double work = 32 * static_cast<double>(rows) * static_cast<double>(half);
    parallel_for(rows, std::max<int64_t>(1, (int64_t{1} << 13) / half), threads_for(work),
                 [&](int64_t first, int64_t last) {
                   std::vector<T> in(static_cast<size_t>(2 * half)), to(static_cast<size_t>(half));
                   for (int64_t row = first; row < last; ++row) {
                     if (row < active) {
                       compute(x.read(row * 2 * half, 2 * half, in.data()), to.data());
                     } else {
                       std::ranges::fill(to, T{0});
                     }
                     out.put(row * half, half, to.data());
                   }
                 });
    return Status::ok();
  }

 private:
  Status sum_groups(int64_t* active) const {
    std::vector<double> counts(static_cast<size_t>(groups));
    const double* found = groups == 0 ? counts.data() : group_index.read(0, groups, counts.data());
    double sum = 0;
    for (int64_t i = 0; i < groups; ++i) {
      if (found[i] < 0) return bad_gate(text("groupIndex has ", found[i], ": numbers of rows are not negative"));
      sum += found[i];
    }
    if (sum > static_cast<double>(rows)) return bad_gate(text("groupIndex has ", sum, " rows where x has ", rows));
    *active = static_cast<int64_t>(sum);
    return Status::ok();
  }

  void compute(const T* v, T* to) const {
    const auto alpha = static_cast<T>(gate.alpha), limit = static_cast<T>(gate.limit), bias = static_cast<T>(gate.bias);
    const int64_t step = gate.interleaved ? 2 : 1, other = gate.interleaved ? 1 : half;
    for (int64_t i = 0; i < half; ++i) {
      const T a = v[i * step], b = v[i * step + other];
      // NaN stays NaN.
      const T clipped = a > limit ? limit : a;
      const T linear = b > limit ? limit : b < -limit ? -limit : b;
      to[i] = clipped / (1 + std::exp(-alpha * clipped)) * (linear + bias);
    }
  }
};

template <typename T>
Status plan_clipped(const aclTensor& x, const aclTensor* group_index, const ClippedGate& gate, int64_t rows,
                    int64_t half, const aclTensor& out, Plan* plan) {
  auto task = std::make_shared<ClippedTask<T>>();
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(x, -1, "x", &flat));
  task->x = FlatReader<T>(flat);
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(out, -1, "out", &flat));
  task->out = FlatWriter<T>(flat);
  if (group_index != nullptr) {
    if (group_index->dtype != ACL_INT64 && group_index->dtype != ACL_INT32) {
      return bad_gate(text("groupIndex is ", describe(*group_index), "; int32 and int64 are taken"));
    }
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*group_index, -1, "groupIndex", &flat));
    task->group_index = FlatReader<double>(flat);
    task->groups = element_count(*group_index);
  }
  task->gate = gate;
  task->rows = rows;
  task->half = half;
  plan->work = 32 * static_cast<double>(element_count(x));
  plan->describe = [message = describe(x)] { return "(" + message + ")"; };
  plan->run = [task = std::shared_ptr<const ClippedTask<T>>(std::move(task))](void*) { return task->run(); };
  return Status::ok();
}

}  // namespace

Status clipped_gate(const aclTensor& x, const aclTensor* group_index, int64_t dim, const ClippedGate& gate,
                    const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_rows(x, "x"));
  SOFTNPU_RETURN_IF_ERROR(check_rows(out, "out"));
  const auto n = static_cast<int64_t>(x.dims.size());
  const int64_t d = dim < 0 ? dim + n : dim;
  if (d < 0 || d >= n) return bad_gate(text("dim is ", dim, " where x is ", describe(x)));
  const int64_t cut = x.dims[static_cast<size_t>(d)];
  int64_t rows = 1;
  for (int64_t i = 0; i < d; ++i) rows *= x.dims[static_cast<size_t>(i)];
  const int64_t count = element_count(x);
  if (cut % 2 != 0 || element_count(out) * 2 != count) {
    return bad_gate(text("x is ", describe(x), " and out ", describe(out), ": dimension ", d, " does not cut in two"));
  }
  if (count == 0) {
    plan->work = 0;
    plan->run = [](void*) { return Status::ok(); };
    return Status::ok();
  }
  const int64_t half = count / rows / 2;
  return x.dtype == ACL_DOUBLE ? plan_clipped<double>(x, group_index, gate, rows, half, out, plan)
                               : plan_clipped<float>(x, group_index, gate, rows, half, out, plan);
}

}  // namespace softnpu
