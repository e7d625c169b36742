// Rows of the inference forms: in the order of experts, and summed with scales, biases and residuals.

#include <algorithm>

#include "ops/nn/experts/experts.h"
#include "ops/nn/experts/order.h"
#include "ops/nn/experts/rows.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

int64_t rows_at_once(int64_t length) {
  constexpr int64_t kGrain = 1 << 14;  // values of a slice
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, length));
}

struct EndsTask {
  IndexList sorted, out;

  Status run() const {
    const std::vector<int64_t> experts = sorted.read();
    if (!std::ranges::is_sorted(experts)) return bad_experts("sortedExperts falls: experts in rising order are taken");
    std::vector<int64_t> ends;
    for (int64_t expert = 0; expert < out.count(); ++expert) {
      ends.push_back(std::ranges::upper_bound(experts, expert) - experts.begin());
    }
    out.write(ends);
    return Status::ok();
  }
};

struct InitTask {
  ExpertRows<float> x, expanded;
  IndexList row_index, experts, expanded_row, expanded_expert;

  Status run() const {
    const std::vector<int64_t> given = row_index.read();
    const std::vector<int64_t> keys = experts.read();
    SOFTNPU_RETURN_IF_ERROR(check_indices(given, static_cast<int64_t>(given.size()), "rowIdx"));
    const std::vector<int64_t> order = stable_order(keys);
    std::vector<int64_t> sorted(keys.size()), source(keys.size()), position(keys.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const auto from = static_cast<size_t>(order[i]);
      sorted[i] = keys[from];
      source[i] = given[from];
      position[static_cast<size_t>(given[from])] = static_cast<int64_t>(i);
    }
    expanded_expert.write(sorted);
    expanded_row.write(position);
    parallel_for(expanded.rows, rows_at_once(x.length),
                 threads_for(4 * static_cast<double>(expanded.rows) * static_cast<double>(x.length)),
                 [&](int64_t from, int64_t to) {
                   std::vector<float> buffer(static_cast<size_t>(x.length));
                   for (int64_t i = from; i < to; ++i) {
                     expanded.write(i, x.read(source[static_cast<size_t>(i)] % x.rows, buffer.data()));
                   }
                 });
    return Status::ok();
  }
};

struct FinalizeTask {
  ExpertRows<float> rows, first, second, bias, scales, out;
  IndexList row_index, experts;
  bool may_drop = false;
  bool is_by_column = true;
  int64_t top_k = 1;

  Status run() const {
    const std::vector<int64_t> at = row_index.read();
    for (const int64_t index : at) {
      if (index < (may_drop ? -1 : 0) || index >= rows.rows) {
        return bad_experts(text("expandedRowIdx: index ", index, " is out of range: ", may_drop ? -1 : 0, " up to ",
                                rows.rows - 1, " are taken"));
      }
    }
    const std::vector<int64_t> of = experts.read();
    if (bias.is_there) SOFTNPU_RETURN_IF_ERROR(check_indices(of, bias.rows, "expertIdx"));
    parallel_for(out.rows, rows_at_once(out.length * top_k),
                 threads_for(4 * static_cast<double>(out.rows * top_k) * static_cast<double>(out.length)),
                 [&](int64_t from, int64_t to) {
                   std::vector<float> sum(static_cast<size_t>(out.length)), buffer(sum.size());
                   std::vector<float> factors(static_cast<size_t>(top_k), 1.0F);
                   for (int64_t i = from; i < to; ++i) add_row(i, at, of, &sum, &buffer, &factors);
                 });
    return Status::ok();
  }

 private:
  static void add(const float* v, float factor, std::vector<float>* sum) {
    for (size_t c = 0; c < sum->size(); ++c) (*sum)[c] += factor * v[c];
  }

  void add_row(int64_t i, const std::vector<int64_t>& at, const std::vector<int64_t>& of, std::vector<float>* sum,
               std::vector<float>* buffer, std::vector<float>* factors) const {
    std::ranges::fill(*sum, 0.0F);
    if (first.is_there) add(first.read(i, buffer->data()), 1, sum);
    if (second.is_there) add(second.read(i, buffer->data()), 1, sum);
    const float* scale = scales.is_there ? scales.read(i, factors->data()) : factors->data();
    for (int64_t j = 0; j < top_k; ++j) {
      const int64_t row = at[static_cast<size_t>(is_by_column ? j * out.rows + i : i * top_k + j)];
      if (row >= 0) add(rows.read(row, buffer->data()), scale[j], sum);
      if (bias.is_there) {
        add(bias.read(of[static_cast<size_t>(i * top_k + j)], buffer->data()), scale[j], sum);
      }
    }
    out.write(i, sum->data());
  }
};

Status check_narrow(const aclTensor& tensor, const char* role) {
  if (tensor.dtype != ACL_DOUBLE) return Status::ok();
  return bad_experts(text(role, " is ", describe(tensor), "; types of up to 32 bits are taken"));
}

}  // namespace

Status expert_ends(const aclTensor& sorted, int64_t experts, const aclTensor& out, Plan* plan) {
  if (experts < 0 || element_count(out) != experts) {
    return bad_experts(text("numExperts is ", experts, " and the result ", describe(out), ": one number for each"));
  }
  auto task = std::make_shared<EndsTask>();
  SOFTNPU_RETURN_IF_ERROR(task->sorted.make(sorted, "sortedExperts"));
  SOFTNPU_RETURN_IF_ERROR(task->out.make(out, "the result"));
  plan_experts(std::move(task), static_cast<double>(element_count(sorted) + experts), {&sorted}, plan);
  return Status::ok();
}

Status init_routing(const aclTensor& x, const aclTensor& row_index, const aclTensor& experts, int64_t active,
                    const aclTensor& expanded_x, const aclTensor& expanded_row, const aclTensor& expanded_expert,
                    Plan* plan) {
  const int64_t elements = element_count(experts);
  const bool fits = x.dims.size() == 2 && experts.dims.size() == 2 && experts.dims[0] == x.dims[0] &&
                    row_index.dims == experts.dims && element_count(expanded_row) == elements &&
                    element_count(expanded_expert) == elements && active >= 0 && expanded_x.dims.size() == 2 &&
                    expanded_x.dims[0] == std::min(active, x.dims[0]) * experts.dims[1];
  if (!fits) {
    return bad_experts(text("x is ", describe(x), ", rowIdx ", describe(row_index), ", expertIdx ", describe(experts),
                            ", activeNum ", active, " and expandedX ", describe(expanded_x),
                            ": [N, H], [N, K], [N, K] and min(activeNum, N) K rows are taken"));
  }
  SOFTNPU_RETURN_IF_ERROR(check_narrow(x, "x"));
  auto task = std::make_shared<InitTask>();
  SOFTNPU_RETURN_IF_ERROR(task->x.make(&x, "x"));
  SOFTNPU_RETURN_IF_ERROR(task->expanded.make(&expanded_x, "expandedX", task->x.length));
  SOFTNPU_RETURN_IF_ERROR(task->row_index.make(row_index, "rowIdx"));
  SOFTNPU_RETURN_IF_ERROR(task->experts.make(experts, "expertIdx"));
  SOFTNPU_RETURN_IF_ERROR(task->expanded_row.make(expanded_row, "expandedRowIdx"));
  SOFTNPU_RETURN_IF_ERROR(task->expanded_expert.make(expanded_expert, "expandedExpertIdx"));
  plan_experts(std::move(task), static_cast<double>(element_count(expanded_x) + elements), {&x, &experts}, plan);
  return Status::ok();
}

Status finalize_routing(const FinalizeRouting& o, Plan* plan) {
  if (o.mode < 0 || o.mode > 3) return bad_experts(text("dropPadMode is ", o.mode, ": 0 to 3 are taken"));
  SOFTNPU_RETURN_IF_ERROR(check_narrow(o.rows, "expandedX"));
  auto task = std::make_shared<FinalizeTask>();
  SOFTNPU_RETURN_IF_ERROR(task->rows.make(&o.rows, "expandedX"));
  const int64_t length = task->rows.length;
  SOFTNPU_RETURN_IF_ERROR(task->out.make(&o.out, "the result", length));
  SOFTNPU_RETURN_IF_ERROR(task->first.make(o.first, "x1", length));
  SOFTNPU_RETURN_IF_ERROR(task->second.make(o.second, "x2", length));
  SOFTNPU_RETURN_IF_ERROR(task->bias.make(o.bias, "bias", length));
  SOFTNPU_RETURN_IF_ERROR(task->scales.make(o.scales, "scales"));
  SOFTNPU_RETURN_IF_ERROR(task->row_index.make(o.row_index, "expandedRowIdx"));
  task->may_drop = o.mode == 1 || o.mode == 3;
  task->is_by_column = o.mode < 2;
  task->top_k = task->scales.is_there ? task->scales.length : 1;
  const int64_t rows = o.out.dims.size() == 2 ? o.out.dims[0] : -1;
  const auto has_rows = [rows](const ExpertRows<float>& part) { return !part.is_there || part.rows == rows; };
  const bool has_experts =
      !task->bias.is_there || (o.experts != nullptr && element_count(*o.experts) == task->row_index.count());
  if (rows < 0 || !(checked(rows) * task->top_k).is(task->row_index.count()) || !has_experts ||
      (length > 0 && !(has_rows(task->first) && has_rows(task->second))) || !has_rows(task->scales)) {
    return bad_experts(text("expandedRowIdx is ", describe(o.row_index), " where the result is ", describe(o.out),
                            " and K ", task->top_k,
                            ": N K numbers, x1 and x2 [N, H], scales [N, K], and with a bias expertIdx "
                            "[N, K] are taken"));
  }
  if (task->bias.is_there) SOFTNPU_RETURN_IF_ERROR(task->experts.make(*o.experts, "expertIdx"));
  plan_experts(std::move(task), static_cast<double>(element_count(o.row_index)) * static_cast<double>(length),
               {&o.rows, &o.row_index}, plan);
  return Status::ok();
}

}  // namespace softnpu
