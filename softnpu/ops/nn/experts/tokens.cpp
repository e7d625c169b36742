// Rows of tokens in the order of their experts, and sums of such rows.

#include <algorithm>

#include "ops/nn/experts/experts.h"
#include "ops/nn/experts/order.h"
#include "ops/nn/experts/rows.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // values of a slice

int64_t rows_at_once(int64_t length) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, length)); }

int threads_of(int64_t rows, int64_t length) {
  return threads_for(4 * static_cast<double>(rows) * static_cast<double>(length));
}

Status check_padded(bool is_padded) {
  if (!is_padded) return Status::ok();
  return bad_experts("paddedMode is true: rows without padding are taken");
}

template <typename T>
struct PermuteTask {
  ExpertRows<T> tokens, permuted;
  IndexList indices, positions;
  int64_t top_k = 1;

  Status run() const {
    const std::vector<int64_t> order = stable_order(indices.read());
    positions.write(positions_in(order));
    const int64_t length = tokens.length;
    parallel_for(permuted.rows, rows_at_once(length), threads_of(permuted.rows, length), [&](int64_t from, int64_t to) {
      std::vector<T> buffer(static_cast<size_t>(length));
      for (int64_t i = from; i < to; ++i) {
        permuted.write(i, tokens.read(order[static_cast<size_t>(i)] / top_k, buffer.data()));
      }
    });
    return Status::ok();
  }
};

template <typename T>
Status plan_permute(const aclTensor& tokens, const aclTensor& indices, const aclTensor& permuted,
                    const aclTensor& positions, Plan* plan) {
  auto task = std::make_shared<PermuteTask<T>>();
  SOFTNPU_RETURN_IF_ERROR(task->tokens.make(&tokens, "tokens"));
  SOFTNPU_RETURN_IF_ERROR(task->permuted.make(&permuted, "permutedTokens", task->tokens.length));
  SOFTNPU_RETURN_IF_ERROR(task->indices.make(indices, "indices"));
  SOFTNPU_RETURN_IF_ERROR(task->positions.make(positions, "sortedIndices"));
  task->top_k = indices.dims.size() > 1 ? indices.dims.back() : 1;
  plan_experts(std::move(task), static_cast<double>(element_count(permuted) + element_count(indices)),
               {&tokens, &indices}, plan);
  return Status::ok();
}

template <typename T>
struct SumTask {
  ExpertRows<T> rows, weights, out;
  IndexList positions;
  int64_t top_k = 1;

  Status run() const {
    const std::vector<int64_t> at = positions.read();
    for (const int64_t position : at) {
      if (position < 0) return bad_experts(text("sortedIndices: index ", position, " is out of range"));
    }
    const int64_t length = rows.length;
    parallel_for(out.rows, rows_at_once(length * top_k), threads_of(out.rows * top_k, length),
                 [&](int64_t from, int64_t to) {
                   std::vector<T> buffer(static_cast<size_t>(length)), sum(buffer.size());
                   std::vector<T> factors(static_cast<size_t>(top_k), T{1});
                   for (int64_t i = from; i < to; ++i) {
                     std::ranges::fill(sum, T{0});
                     const T* w = weights.is_there ? weights.read(i, factors.data()) : factors.data();
                     for (int64_t j = 0; j < top_k; ++j) {
                       const int64_t row = at[static_cast<size_t>(i * top_k + j)];
                       if (row >= rows.rows) continue;
                       const T* v = rows.read(row, buffer.data());
                       for (size_t c = 0; c < sum.size(); ++c) sum[c] += w[j] * v[c];
                     }
                     out.write(i, sum.data());
                   }
                 });
    return Status::ok();
  }
};

// K, if the positions are those of `rows` with it.
Status top_k_of(const aclTensor& positions, const aclTensor* weights, int64_t asked, int64_t rows, int64_t* top_k) {
  *top_k = asked > 0 ? asked : weights != nullptr && weights->dims.size() == 2 ? weights->dims.back() : 1;
  const int64_t count = element_count(positions);
  if (weights != nullptr && element_count(*weights) != count) {
    return bad_experts(text("probs is ", describe(*weights), " and sortedIndices ", describe(positions),
                            ": one of each belongs to a row"));
  }
  if ((checked(rows) * *top_k).is(count)) return Status::ok();
  return bad_experts(text("sortedIndices is ", describe(positions), ": ", rows, " rows have ", *top_k, " of each"));
}

template <typename T>
Status plan_sums(const aclTensor& rows, const aclTensor& positions, const aclTensor* weights, int64_t asked,
                 const aclTensor& out, Plan* plan) {
  auto task = std::make_shared<SumTask<T>>();
  SOFTNPU_RETURN_IF_ERROR(task->rows.make(&rows, "permutedTokens"));
  SOFTNPU_RETURN_IF_ERROR(task->out.make(&out, "the result", task->rows.length));
  SOFTNPU_RETURN_IF_ERROR(task->positions.make(positions, "sortedIndices"));
  if (task->rows.length > 0) {
    SOFTNPU_RETURN_IF_ERROR(top_k_of(positions, weights, asked, task->out.rows, &task->top_k));
  }
  SOFTNPU_RETURN_IF_ERROR(task->weights.make(weights, "probs", task->top_k));
  plan_experts(std::move(task), static_cast<double>(element_count(positions)) * static_cast<double>(rows.dims.back()),
               {&rows, &positions}, plan);
  return Status::ok();
}

template <typename T>
struct SumGradientTask {
  ExpertRows<T> rows, grad, weights, drows, dweights;
  IndexList positions;
  int64_t top_k = 1;

  Status run() const {
    const std::vector<int64_t> at = positions.read();
    // The element whose row each is: one writes it.
    std::vector<int64_t> source(static_cast<size_t>(drows.rows), -1);
    for (size_t i = 0; i < at.size(); ++i) {
      if (at[i] < 0) return bad_experts(text("sortedIndices: index ", at[i], " is out of range"));
      if (at[i] >= drows.rows) continue;
      int64_t& first = source[static_cast<size_t>(at[i])];
      if (first >= 0) return bad_experts(text("sortedIndices: ", at[i], " is there twice"));
      first = static_cast<int64_t>(i);
    }
    const int64_t length = drows.length;
    parallel_for(drows.rows, rows_at_once(length), threads_of(drows.rows, length), [&](int64_t from, int64_t to) {
      std::vector<T> buffer(static_cast<size_t>(length)), other(buffer.size());
      for (int64_t row = from; row < to; ++row) write_row(row, source[static_cast<size_t>(row)], &buffer, &other);
    });
    if (!dweights.is_there) return Status::ok();
    for (size_t i = 0; i < at.size(); ++i) {
      const T none = 0;
      if (at[i] >= drows.rows) dweights.to.put(static_cast<int64_t>(i), 1, &none);
    }
    return Status::ok();
  }

 private:
  void write_row(int64_t row, int64_t element, std::vector<T>* buffer, std::vector<T>* other) const {
    if (element < 0) {
      std::ranges::fill(*buffer, T{0});
      drows.write(row, buffer->data());
      return;
    }
    const T* g = grad.read(element / top_k, buffer->data());
    if (dweights.is_there) {
      const T* v = rows.read(row, other->data());
      double sum = 0;
      for (size_t c = 0; c < other->size(); ++c) sum += static_cast<double>(g[c]) * static_cast<double>(v[c]);
      const T dot = static_cast<T>(sum);
      dweights.to.put(element, 1, &dot);
    }
    T kept = 1;
    const T weight = weights.is_there ? *weights.from.read(element, 1, &kept) : kept;
    for (size_t c = 0; c < other->size(); ++c) (*other)[c] = weight * g[c];
    drows.write(row, other->data());
  }
};

template <typename T>
Status plan_gradient(const aclTensor& rows, const aclTensor& grad, const aclTensor& positions, const aclTensor* weights,
                     const aclTensor& drows, const aclTensor* dweights, Plan* plan) {
  auto task = std::make_shared<SumGradientTask<T>>();
  SOFTNPU_RETURN_IF_ERROR(task->rows.make(&rows, "permutedTokens"));
  const int64_t length = task->rows.length;
  SOFTNPU_RETURN_IF_ERROR(task->grad.make(&grad, "the gradient", length));
  SOFTNPU_RETURN_IF_ERROR(task->drows.make(&drows, "the gradient of permutedTokens", length));
  SOFTNPU_RETURN_IF_ERROR(task->positions.make(positions, "sortedIndices"));
  if (length > 0) SOFTNPU_RETURN_IF_ERROR(top_k_of(positions, weights, 0, task->grad.rows, &task->top_k));
  SOFTNPU_RETURN_IF_ERROR(task->weights.make(weights, "probs", task->top_k));
  if (weights != nullptr) SOFTNPU_RETURN_IF_ERROR(task->dweights.make(dweights, "the gradient of probs", task->top_k));
  if (task->rows.rows != task->drows.rows || (task->dweights.is_there && task->dweights.rows != task->weights.rows)) {
    return bad_experts(text("a gradient has the shape of what it is of: ", describe(rows), " and ", describe(drows)));
  }
  plan_experts(std::move(task), 3 * static_cast<double>(element_count(drows)), {&rows, &grad, &positions}, plan);
  return Status::ok();
}

}  // namespace

Status token_permute(const aclTensor& tokens, const aclTensor& indices, int64_t count, bool is_padded,
                     const aclTensor& permuted, const aclTensor& positions, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_padded(is_padded));
  const int64_t elements = element_count(indices);
  const bool fits = tokens.dims.size() == 2 && permuted.dims.size() == 2 && !indices.dims.empty() &&
                    indices.dims.size() <= 2 && indices.dims[0] == tokens.dims[0];
  if (!fits || element_count(positions) != elements || count < 0 || count > elements || permuted.dims[0] != count) {
    return bad_experts(text("tokens is ", describe(tokens), ", indices ", describe(indices), ", numOutTokens ", count,
                            ", permutedTokens ", describe(permuted), " and sortedIndices ", describe(positions),
                            ": [N, H], [N] or [N, K], up to N K, as many rows and N K numbers are taken"));
  }
  return tokens.dtype == ACL_DOUBLE ? plan_permute<double>(tokens, indices, permuted, positions, plan)
                                    : plan_permute<float>(tokens, indices, permuted, positions, plan);
}

Status token_sums(const aclTensor& rows, const aclTensor& positions, const aclTensor* weights, int64_t top_k,
                  bool is_padded, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_padded(is_padded));
  return rows.dtype == ACL_DOUBLE ? plan_sums<double>(rows, positions, weights, top_k, out, plan)
                                  : plan_sums<float>(rows, positions, weights, top_k, out, plan);
}

Status token_sums_gradient(const aclTensor& rows, const aclTensor& grad, const aclTensor& positions,
                           const aclTensor* weights, bool is_padded, const aclTensor& drows, const aclTensor* dweights,
                           Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_padded(is_padded));
  return rows.dtype == ACL_DOUBLE ? plan_gradient<double>(rows, grad, positions, weights, drows, dweights, plan)
                                  : plan_gradient<float>(rows, grad, positions, weights, drows, dweights, plan);
}

}  // namespace softnpu
