// The choice of experts.

#include <algorithm>
#include <cstring>

#include "ops/nn/experts/experts.h"
#include "ops/nn/experts/largest.h"
#include "ops/nn/experts/rows.h"
#include "ops/nn/softmax/slice_kernels.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

struct GatingTask {
  ExpertRows<float> x, y;
  IndexList experts, row_index;
  FlatTensor finished;
  bool has_finished = false;
  int64_t k = 0;

  Status run() const {
    const std::vector<char> done = read_finished();
    const auto elements = static_cast<size_t>(x.rows * k);
    std::vector<int64_t> chosen(elements), source(elements);
    const double work = 32 * static_cast<double>(x.rows) * static_cast<double>(x.length);
    parallel_for(x.rows, std::max<int64_t>(1, (int64_t{1} << 12) / x.length), threads_for(work),
                 [&](int64_t from, int64_t to) {
                   std::vector<float> values(static_cast<size_t>(x.length)), kept(static_cast<size_t>(k));
                   std::vector<int64_t> order;
                   for (int64_t row = from; row < to; ++row) {
                     softmax(row, &values);
                     select_largest(values, k, &order);
                     for (int64_t j = 0; j < k; ++j) {
                       const auto at = static_cast<size_t>(row * k + j);
                       const int64_t expert = order[static_cast<size_t>(j)];
                       kept[static_cast<size_t>(j)] = values[static_cast<size_t>(expert)];
                       chosen[at] = !done.empty() && done[static_cast<size_t>(row)] != 0 ? x.length : expert;
                       source[at] = j * x.rows + row;
                     }
                     y.write(row, kept.data());
                   }
                 });
    experts.write(chosen);
    row_index.write(source);
    return Status::ok();
  }

 private:
  std::vector<char> read_finished() const {
    std::vector<char> done;
    if (!has_finished) return done;
    finished.for_runs(0, x.rows, [&](const char* from, ptrdiff_t stride, int64_t here) {
      for (int64_t i = 0; i < here; ++i, from += stride) done.push_back(*from);
    });
    return done;
  }

  void softmax(int64_t row, std::vector<float>* values) const {
    softmax_.whole(x.read(row, values->data()), values->size(), false, values->data());
  }

  SoftmaxLines<float> softmax_ = softmax_lines<float>();
};

}  // namespace

Status gating_top_k_softmax(const aclTensor& x, const aclTensor* finished, int64_t k, const aclTensor& y,
                            const aclTensor& experts, const aclTensor& row_index, Plan* plan) {
  if (x.dtype == ACL_DOUBLE) return bad_experts(text("x is ", describe(x), "; types of up to 32 bits are taken"));
  auto task = std::make_shared<GatingTask>();
  SOFTNPU_RETURN_IF_ERROR(task->x.make(&x, "x"));
  if (k < 1 || k > task->x.length) {
    return bad_experts(text("k is ", k, " where x is ", describe(x), ": 1 up to the last dimension are taken"));
  }
  SOFTNPU_RETURN_IF_ERROR(task->y.make(&y, "y", k));
  SOFTNPU_RETURN_IF_ERROR(task->experts.make(experts, "expertIdx"));
  SOFTNPU_RETURN_IF_ERROR(task->row_index.make(row_index, "rowIdx"));
  const int64_t elements = task->x.rows * k;
  if (element_count(y) != elements || task->experts.count() != elements || task->row_index.count() != elements) {
    return bad_experts(text("y is ", describe(y), ", expertIdx ", describe(experts), " and rowIdx ",
                            describe(row_index), " where x is ", describe(x), " and k ", k));
  }
  if (finished != nullptr) {
    if (finished->dtype != ACL_BOOL || element_count(*finished) != task->x.rows) {
      return bad_experts(
          text("finished is ", describe(*finished), " where x is ", describe(x), ": a bool for each row is taken"));
    }
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*finished, -1, "finished", &task->finished));
    task->has_finished = true;
  }
  task->k = k;
  plan_experts(std::move(task), 4 * static_cast<double>(element_count(x)), {&x}, plan);
  return Status::ok();
}

}  // namespace softnpu
