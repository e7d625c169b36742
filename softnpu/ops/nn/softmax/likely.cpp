#include "ops/nn/softmax/likely.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/given.h"
#include "ops/core/iterate/flat.h"
#include "ops/core/nothing.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr double kFlopsPerElement = 64;
constexpr float kNone = -std::numeric_limits<float>::infinity();

Status bad(std::string message) { return {ACLNN_ERR_PARAM_INVALID, std::move(message)}; }

struct Buffers {
  explicit Buffers(size_t size) : row(size), out(size) {}
  std::vector<float> row, out, copy;
  std::vector<int64_t> order;
};

bool is_nan(float value) { return value != value; }

// The k-th largest value, NaN above all others. Keeps up to 4 k candidates, all above the k-th largest of those before.
float kth_largest(const float* x, int64_t count, int64_t k, std::vector<float>* candidates) {
  const auto room = static_cast<size_t>(4 * k);
  float least = kNone;
  candidates->clear();
  const auto shrink = [&] {
    const auto nth = candidates->begin() + (k - 1);
    std::nth_element(candidates->begin(), nth, candidates->end(),
                     [](float a, float b) { return a > b || (is_nan(a) && !is_nan(b)); });
    least = *nth;
    candidates->resize(static_cast<size_t>(k));
  };
  for (int64_t i = 0; i < count; ++i) {
    const bool is_filled = static_cast<int64_t>(candidates->size()) >= k;
    if (is_filled && x[i] <= least) continue;
    candidates->push_back(x[i]);
    if (candidates->size() >= room) shrink();
  }
  shrink();
  return least;
}

// Leaves out the elements below the k-th largest value; none is below NaN.
void keep_largest(const float* x, int64_t count, int64_t k, Buffers* b) {
  if (k >= count) return;
  const float least = kth_largest(x, count, k, &b->copy);
  std::copy_n(x, count, b->out.begin());
  for (int64_t i = 0; i < count; ++i) {
    if (x[i] < least) b->out[static_cast<size_t>(i)] = kNone;
  }
}

// Of the elements of b->out those stay whose predecessors, from the most probable one on, have less than p.
void keep_probable(int64_t count, double p, Buffers* b) {
  std::vector<float>& out = b->out;
  const float most = *std::max_element(out.begin(), out.begin() + count);
  if (!std::isfinite(most)) return;
  b->order.clear();
  double total = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float value = out[static_cast<size_t>(i)];
    if (value == kNone) continue;
    total += std::exp(static_cast<double>(value - most));
    b->order.push_back(i);
  }
  // Of equal values the last one is the first to stay.
  const auto is_before = [&out](int64_t i, int64_t j) {
    const float a = out[static_cast<size_t>(i)], c = out[static_cast<size_t>(j)];
    return a != c ? a > c : i > j;
  };
  const auto begin = b->order.begin();
  const auto all = static_cast<int64_t>(b->order.size());
  int64_t kept = 0;
  double sum = 0;
  // Sorts as many as are needed: the first ones have most of the probability.
  for (int64_t sorted = 0, next = 64; sorted < all && kept == sorted; next *= 8) {
    const int64_t end = std::min(all, next);
    if (end < all) std::nth_element(begin + sorted, begin + (end - 1), b->order.end(), is_before);
    std::sort(begin + sorted, begin + end, is_before);
    for (; kept < end && (kept == 0 || sum < p * total); ++kept) {
      sum += std::exp(static_cast<double>(out[static_cast<size_t>(*(begin + kept))] - most));
    }
    sorted = end;
  }
  for (int64_t i = kept; i < all; ++i) out[static_cast<size_t>(*(begin + i))] = kNone;
}

struct LikelyTask {
  FlatReader<float> logits;
  FlatWriter<float> to;
  std::optional<FlatReader<float>> p;
  std::optional<FlatReader<double>> k;
  int64_t rows = 0, length = 0;

  Status run() const {
    std::vector<double> counts(k ? static_cast<size_t>(rows) : 0);
    const double* const given = k ? k->read(0, rows, counts.data()) : nullptr;
    for (int64_t i = 0; given != nullptr && i < rows; ++i) {
      if (given[i] < 1)
        return bad(text("k: ", static_cast<int64_t>(given[i]), " is out of range: 1 and more are taken"));
    }
    parallel_for(rows, 1, threads_for(work()), [&](int64_t first, int64_t last) {
      Buffers buffers(static_cast<size_t>(length));
      for (int64_t row = first; row < last; ++row) {
        const float* const x = logits.read(row * length, length, buffers.row.data());
        std::copy_n(x, length, buffers.out.begin());
        keep(row, given, x, &buffers);
        to.put(row * length, length, buffers.out.data());
      }
    });
    return Status::ok();
  }

  double work() const { return kFlopsPerElement * static_cast<double>(rows) * static_cast<double>(length); }

 private:
  void keep(int64_t row, const double* counts, const float* x, Buffers* buffers) const {
    const auto limit = static_cast<double>(length);
    if (counts != nullptr) keep_largest(x, length, static_cast<int64_t>(std::min(counts[row], limit)), buffers);
    // NaN stays, as the largest, and makes each probability NaN, which is less than no p.
    if (!p || std::any_of(x, x + length, is_nan)) return;
    float buffer = 0;
    const float share = *p->read(row, 1, &buffer);
    if (share < 1) keep_probable(length, share, buffers);
  }
};

template <typename T>
Status open(const aclTensor& tensor, const char* role, T* out) {
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(tensor, -1, role, &flat));
  *out = T(std::move(flat));
  return Status::ok();
}

}  // namespace

Status keep_likely(const aclTensor& logits, const aclTensor* p, const aclTensor* k, const aclTensor& out, Plan* plan) {
  if (logits.dims.size() != 2 || !is_value(logits.dtype) || logits.dtype != out.dtype ||
      !std::ranges::equal(logits.dims, out.dims)) {
    return bad(text("logits are ", describe(logits), " and the result ", describe(out),
                    ": floating-point numbers [N, V] are taken"));
  }
  auto task = std::make_shared<LikelyTask>();
  task->rows = logits.dims[0];
  task->length = logits.dims[1];
  SOFTNPU_RETURN_IF_ERROR(open(logits, "logits", &task->logits));
  SOFTNPU_RETURN_IF_ERROR(open(out, "the result", &task->to));
  const bool has_p = is_given(p), has_k = is_given(k);
  if ((has_p && (!is_value(p->dtype) || element_count(*p) != task->rows)) ||
      (has_k && ((k->dtype != ACL_INT32 && k->dtype != ACL_INT64) || element_count(*k) != task->rows))) {
    return bad(text(has_p ? "p is " + describe(*p) : "p is null", has_k ? ", k " + describe(*k) : "", " for logits ",
                    describe(logits), ": floating-point numbers and integers, one a row, are taken"));
  }
  if (has_p) SOFTNPU_RETURN_IF_ERROR(open(*p, "p", &task->p.emplace()));
  if (has_k) SOFTNPU_RETURN_IF_ERROR(open(*k, "k", &task->k.emplace()));
  if (task->rows == 0 || task->length == 0) return plan_nothing(plan);
  plan->work = task->work();
  plan->describe = describe_later({&logits});
  plan->run = [task = std::shared_ptr<const LikelyTask>(std::move(task))](void*) { return task->run(); };
  return Status::ok();
}

}  // namespace softnpu
