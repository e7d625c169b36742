// The loss that trains an indexer of sparse attention, and its gradients: the divergence of the indexer's softmax from
// that of attention, whose maxima and sums are given. In float32, a few queries at a time.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <limits>

#include "aten/composed/operands.h"
#include "aten/composed/sequences.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using FourTensors = std::tuple<Tensor, Tensor, Tensor, Tensor>;

constexpr aclnn_check::Dtypes kTrained = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});
constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr int64_t kTemporary = int64_t{1} << 24;  // numbers of one

bool exists(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

// Queries and keys of a batch, [B, S, N, D] or [T, N, D].
struct Batch {
  const char* name;
  const Tensor &query, &key;
  std::string_view layout;
  at::OptionalSymIntArrayRef query_ends, key_ends;
  int64_t mode;

  bool is_packed() const { return layout == "TND"; }

  void check() const {
    TORCH_CHECK(layout == "BSND" || layout == "TND", "npu::", name, ": layout is '", layout,
                "': 'BSND' and 'TND' are taken");
    TORCH_CHECK(mode == 0 || mode == 3, "npu::", name, ": sparse_mode is ", mode, ": 0 and 3 are taken");
    TORCH_CHECK(query.dim() == (is_packed() ? 3 : 4) && key.dim() == query.dim() &&
                    query.sym_size(-1) == key.sym_size(-1) && key.sym_size(-2) == 1 &&
                    (is_packed() || query.sym_size(0) == key.sym_size(0)),
                "npu::", name, ": query_index is of size ", query.sym_sizes(), ", key_index of size ", key.sym_sizes(),
                ": [B, S, N, D] or [T, N, D], and one head of keys, are taken");
    TORCH_CHECK(!is_packed() || (query_ends.has_value() && key_ends.has_value()), "npu::", name,
                ": actual_seq_qlen or actual_seq_klen is None: layout TND takes the ends of sequences");
  }

  std::vector<Span> spans(const char* role, const Tensor& rows, at::OptionalSymIntArrayRef ends) const {
    std::vector<Span> found;
    if (is_packed()) {
      int64_t begin = 0;
      for (const c10::SymInt& given : *ends) {
        const int64_t end = given.guard_int(__FILE__, __LINE__);
        TORCH_CHECK(begin <= end && end <= rows.size(0), "npu::", name, ": ", role, " has ", end, " behind ", begin,
                    " for ", rows.size(0), " rows: ends that do not fall are taken");
        found.push_back({begin, end - begin});
        begin = end;
      }
      return found;
    }
    const int64_t length = rows.size(1);
    for (int64_t b = 0; b < rows.size(0); ++b) found.push_back({b * length, length});
    if (!ends.has_value()) return found;
    for (std::size_t b = 0; b < ends->size(); ++b) {
      const int64_t end = (*ends)[b].guard_int(__FILE__, __LINE__);
      TORCH_CHECK(b < found.size() && end == found[b].end(), "npu::", name, ": ", role, " has ", end,
                  " for sequences of ", length, " rows: layout BSND takes whole sequences");
    }
    return found;
  }

  // Calls `function` with queries and keys of each sequence, and a range of its queries.
  template <typename Function>
  void for_each(int64_t each, const Function& function) const {
    const std::vector<Span> own = spans("actual_seq_qlen", query, query_ends);
    const std::vector<Span> theirs = spans("actual_seq_klen", key, key_ends);
    TORCH_CHECK(own.size() == theirs.size(), "npu::", name, ": there are ", own.size(), " sequences of queries and ",
                theirs.size(), " of keys");
    const int64_t step = std::max<int64_t>(1, kTemporary / std::max<int64_t>(1, each));
    for (std::size_t b = 0; b < own.size(); ++b) {
      for (int64_t from = 0; from < own[b].count && theirs[b].count > 0; from += step) {
        function(own[b], theirs[b], from, std::min(own[b].count, from + step));
      }
    }
  }

  // One more than the last key that each query of the range sees, [queries, 1].
  Tensor ends(const Span& own, const Span& theirs, int64_t from, int64_t to) const {
    const Tensor numbers = at::arange(from, to, query.options().dtype(at::kLong)).unsqueeze(1);
    return mode == 3 ? numbers + (theirs.count - own.count + 1) : at::full_like(numbers, theirs.count);
  }

  // [T, ...] of rows of softmax: [B, N2, S, G] or [N2, T, G] gives [T, N2 G], [B, 1, S] or [1, T] gives [T, 1].
  Tensor by_token(const Tensor& rows, bool has_groups) const {
    const Tensor grouped = has_groups ? rows : rows.unsqueeze(-1);
    return (is_packed() ? grouped.transpose(0, 1) : grouped.transpose(1, 2).flatten(0, 1)).flatten(1);
  }
};

Batch batch_of(const char* name, const Tensor& query, const Tensor& key, std::optional<std::string_view> layout,
               at::OptionalSymIntArrayRef query_ends, at::OptionalSymIntArrayRef key_ends,
               std::optional<int64_t> mode) {
  return {name, query, key, layout.value_or("BSND"), query_ends, key_ends, mode.value_or(3)};
}

void check_weights(const Batch& b, const Tensor& weights) {
  TORCH_CHECK(weights.sym_sizes() == b.query.sym_sizes().slice(0, static_cast<std::size_t>(b.query.dim() - 1)),
              "npu::", b.name, ": weights is of size ", weights.sym_sizes(), " for query_index of size ",
              b.query.sym_sizes(), ": all dimensions but the last are taken");
}

// Scores of an indexer, as its gradients need them.
struct Scores {
  Tensor heads;  // [queries, N, keys]: relu(q k')
  Tensor sums;   // [queries, keys]: over heads, with weights; -inf where no query looks
};
Scores scores_of(const Tensor& q, const Tensor& keys, const Tensor& weights, const Tensor& is_seen) {
  const Tensor heads = at::matmul(q, keys.transpose(-2, -1)).relu();
  return {heads, (heads * weights.unsqueeze(-1)).sum(1).masked_fill(at::logical_not(is_seen), kNone)};
}

struct Loss {
  Batch batch;  // of the indexer
  const Tensor &query, &key, &weights, &softmax_max, &softmax_sum;
  double scale;
  const OptionalTensor &query_rope, &key_rope;
  // Of the dense loss, and of the sparse one.
  const Tensor *index_max = nullptr, *index_sum = nullptr, *chosen = nullptr;

  void check() const {
    const auto same = aclnn_check::dtype_bit(batch.query.scalar_type());
    const auto row_type = dtypes({at::kFloat}) | same;
    Operands operands(batch.name);
    operands.take("query_index", batch.query, kTrained)
        .take("key_index", batch.key, same)
        .take("query", query, same)
        .take("key", key, same)
        .take("weights", weights, row_type)
        .take("softmax_max", softmax_max, row_type)
        .take("softmax_sum", softmax_sum, row_type)
        .take("query_rope", query_rope, same)
        .take("key_rope", key_rope, same);
    if (index_max != nullptr) operands.take("softmax_max_index", *index_max, row_type);
    if (index_sum != nullptr) operands.take("softmax_sum_index", *index_sum, row_type);
    if (chosen != nullptr) operands.take("sparse_indices", *chosen, dtypes({at::kInt}));
    batch.check();
    check_weights(batch, weights);
    const int64_t rows = batch.is_packed() ? 1 : 2;
    const auto first = [&](const Tensor& t) { return t.sym_sizes().slice(0, static_cast<std::size_t>(rows)); };
    TORCH_CHECK(query.dim() == batch.query.dim() && key.dim() == query.dim() && first(query) == first(batch.query) &&
                    first(key) == first(batch.key) && query.sym_size(-1) == key.sym_size(-1) &&
                    query.sym_size(-2) % key.sym_size(-2) == 0,
                "npu::", batch.name, ": query is of size ", query.sym_sizes(), ", key of size ", key.sym_sizes(),
                " for query_index of size ", batch.query.sym_sizes(), " and key_index of size ", batch.key.sym_sizes(),
                ": as many rows, and a multiple of key's heads, are taken");
    const c10::SymInt numbers = query.sym_numel() / query.sym_size(-1);
    TORCH_CHECK(softmax_max.sym_sizes() == softmax_sum.sym_sizes() && softmax_max.dim() == batch.query.dim() &&
                    softmax_max.sym_numel() == numbers,
                "npu::", batch.name, ": softmax_max is of size ", softmax_max.sym_sizes(), ", softmax_sum of size ",
                softmax_sum.sym_sizes(), " for a query of size ", query.sym_sizes(),
                ": [B, N2, S, N / N2] or [N2, T, N / N2] is taken");
    TORCH_CHECK(exists(query_rope) == exists(key_rope), "npu::", batch.name,
                ": one of query_rope and key_rope is None");
    TORCH_CHECK(index_max == nullptr ||
                    (index_max->sym_sizes() == index_sum->sym_sizes() && index_max->dim() == batch.query.dim() - 1 &&
                     index_max->sym_numel() * batch.query.sym_size(-2) == weights.sym_numel()),
                "npu::", batch.name, ": softmax_max_index is not of size [B, 1, S] or [1, T] for weights of size ",
                weights.sym_sizes(), ", or softmax_sum_index has another size");
    TORCH_CHECK(chosen == nullptr || (chosen->dim() == batch.query.dim() && chosen->sym_size(-2) == 1 &&
                                      first(*chosen) == first(batch.query)),
                "npu::", batch.name, ": sparse_indices is not of size [B, S, 1, K] or [T, 1, K] for query_index of ",
                "size ", batch.query.sym_sizes());
  }

  FourTensors run() const {
    check();
    const auto like = [](const Tensor& t) { return at::empty_symint(t.sym_sizes(), t.options()); };
    const auto options = batch.query.options();
    if (batch.query.is_meta()) {
      return {like(batch.query), like(batch.key), like(weights), at::empty({1}, options.dtype(at::kFloat))};
    }
    const auto rows_of = [&](const Tensor& t) { return in_compute_type(t).flatten(0, -3); };
    Tensor q = rows_of(query), k = rows_of(key);
    if (exists(query_rope)) {
      q = at::cat({q, rows_of(*query_rope)}, -1);
      k = at::cat({k, rows_of(*key_rope)}, -1);
    }
    const Tensor qi = rows_of(batch.query), ki = rows_of(batch.key).select(1, 0);
    const auto type = qi.scalar_type();
    const Tensor w = weights.to(type).flatten(0, -2);
    const Tensor largest = batch.by_token(softmax_max, true).to(type), sum = batch.by_token(softmax_sum, true).to(type);
    const Tensor of_index = index_max != nullptr ? batch.by_token(*index_max, false).to(type) : Tensor();
    const Tensor sum_of_index = index_sum != nullptr ? batch.by_token(*index_sum, false).to(type) : Tensor();
    const Tensor which = chosen != nullptr ? chosen->flatten(0, -3).select(1, 0).to(at::kLong) : Tensor();
    const Tensor dq = at::zeros_like(qi), dk = at::zeros_like(ki), dw = at::zeros_like(w);
    Tensor loss = at::zeros({1}, qi.options());
    int64_t longest = 1;
    for (const Span& span : batch.spans("actual_seq_klen", batch.key, batch.key_ends)) {
      longest = std::max(longest, span.count);
    }
    const int64_t count = which.defined() ? which.size(1) * (q.size(2) + qi.size(2)) : longest;
    batch.for_each(
        count * (q.size(1) + qi.size(1)), [&](const Span& own, const Span& theirs, int64_t from, int64_t to) {
          const auto part = [&](const Tensor& t) { return t.slice(0, own.begin + from, own.begin + to); };
          const Tensor ends = batch.ends(own, theirs, from, to);
          const auto keys_of = [&](const Tensor& t) { return t.slice(0, theirs.begin, theirs.end()); };
          // Keys [K, ...] for all queries, or [queries, K, ...].
          Tensor is_seen, at_keys;
          if (which.defined()) {
            at_keys = part(which);
            is_seen = at::logical_and(at_keys >= 0, at_keys < ends.clamp_max(theirs.count));
            at_keys = at::where(is_seen, at_keys, 0);
          } else {
            is_seen = at::arange(theirs.count, options.dtype(at::kLong)) < ends;
          }
          const auto taken = [&](const Tensor& t) {
            if (!at_keys.defined()) return keys_of(t);
            std::vector<int64_t> sizes = at_keys.sizes().vec();
            for (const int64_t size : t.sizes().slice(1)) sizes.push_back(size);
            return keys_of(t).index_select(0, at_keys.flatten()).reshape(sizes);
          };
          // Attention's probabilities, the mean of all heads [queries, K].
          const Tensor k_rows = taken(k).transpose(-3, -2);  // [.., N2, K, D]
          const Tensor heads = k_rows.repeat_interleave(q.size(1) / k.size(1), -3);
          const Tensor products = at_keys.defined()
                                      ? at::matmul(part(q).unsqueeze(2), heads.transpose(-2, -1)).squeeze(2)
                                      : at::matmul(part(q).transpose(0, 1), heads.transpose(-2, -1)).transpose(0, 1);
          const Tensor scores = products * scale;
          const Tensor exponents = (scores - part(largest).unsqueeze(2)).exp() / part(sum).unsqueeze(2);
          const Tensor p = at::where(is_seen, exponents.mean(1), 0);
          const Tensor index_keys = taken(ki);
          const Scores s = scores_of(part(qi), index_keys, part(w), is_seen);
          const Tensor top = of_index.defined() ? part(of_index) : s.sums.amax({-1}, true);
          const Tensor numerator = at::where(is_seen, (s.sums - top).exp(), 0);
          const Tensor all = sum_of_index.defined() ? part(sum_of_index) : numerator.sum(-1, true);
          const Tensor y = numerator / at::where(all > 0, all, 1);
          constexpr double kLeast = 1e-8;
          loss = loss + (p * (p.clamp_min(kLeast).log() - y.clamp_min(kLeast).log())).sum();
          const Tensor d = (y - p).unsqueeze(1);
          part(dw).copy_((d * s.heads).sum(-1));
          const Tensor d_heads = at::where(s.heads > 0, d * part(w).unsqueeze(-1), 0);  // [queries, N, K]
          part(dq).copy_(at::matmul(d_heads, index_keys));
          if (at_keys.defined()) {
            const Tensor rows = at::matmul(d_heads.transpose(1, 2), part(qi));
            keys_of(dk).index_add_(0, at_keys.flatten(), rows.flatten(0, 1));
          } else {
            keys_of(dk).add_(at::matmul(d_heads.flatten(0, 1).t(), part(qi).flatten(0, 1)));
          }
        });
    const auto back = [](const Tensor& t, const Tensor& of) { return t.reshape(of.sizes()).to(of.scalar_type()); };
    return {back(dq, batch.query), back(dk, batch.key), back(dw, weights), loss.to(at::kFloat)};
  }
};

constexpr const char *kSparse = "npu_sparse_lightning_indexer_grad_kl_loss",
                     *kDense = "npu_dense_lightning_indexer_grad_kl_loss",
                     *kRows = "npu_dense_lightning_indexer_softmax_lse";

}  // namespace

FourTensors npu_sparse_lightning_indexer_grad_kl_loss(
    const Tensor& query, const Tensor& key, const Tensor& query_index, const Tensor& key_index, const Tensor& weights,
    const Tensor& sparse_indices, const Tensor& softmax_max, const Tensor& softmax_sum, double scale_value,
    const OptionalTensor& query_rope, const OptionalTensor& key_rope, at::OptionalSymIntArrayRef actual_seq_qlen,
    at::OptionalSymIntArrayRef actual_seq_klen, std::optional<std::string_view> layout,
    std::optional<int64_t> sparse_mode, std::optional<int64_t> /*pre_tokens*/, std::optional<int64_t> /*next_tokens*/,
    const OptionalTensor& sinks) {
  TORCH_CHECK_NOT_IMPLEMENTED(!exists(sinks), "npu::", kSparse, ": sinks is given: None is taken");
  Loss loss{batch_of(kSparse, query_index, key_index, layout, actual_seq_qlen, actual_seq_klen, sparse_mode),
            query,
            key,
            weights,
            softmax_max,
            softmax_sum,
            scale_value,
            query_rope,
            key_rope};
  loss.chosen = &sparse_indices;
  return loss.run();
}

FourTensors npu_dense_lightning_indexer_grad_kl_loss(
    const Tensor& query, const Tensor& key, const Tensor& query_index, const Tensor& key_index, const Tensor& weights,
    const Tensor& softmax_max, const Tensor& softmax_sum, const Tensor& softmax_max_index,
    const Tensor& softmax_sum_index, double scale_value, const OptionalTensor& query_rope,
    const OptionalTensor& key_rope, at::OptionalSymIntArrayRef actual_seq_qlen,
    at::OptionalSymIntArrayRef actual_seq_klen, std::optional<std::string_view> layout,
    std::optional<int64_t> sparse_mode, std::optional<int64_t> /*pre_tokens*/, std::optional<int64_t> /*next_tokens*/) {
  Loss loss{batch_of(kDense, query_index, key_index, layout, actual_seq_qlen, actual_seq_klen, sparse_mode),
            query,
            key,
            weights,
            softmax_max,
            softmax_sum,
            scale_value,
            query_rope,
            key_rope};
  loss.index_max = &softmax_max_index;
  loss.index_sum = &softmax_sum_index;
  return loss.run();
}

std::tuple<Tensor, Tensor> npu_dense_lightning_indexer_softmax_lse(
    const Tensor& query_index, const Tensor& key_index, const Tensor& weights,
    at::OptionalSymIntArrayRef actual_seq_qlen, at::OptionalSymIntArrayRef actual_seq_klen,
    std::optional<std::string_view> layout, std::optional<int64_t> sparse_mode, std::optional<int64_t> /*pre_tokens*/,
    std::optional<int64_t> /*next_tokens*/) {
  const Batch batch = batch_of(kRows, query_index, key_index, layout, actual_seq_qlen, actual_seq_klen, sparse_mode);
  const auto same = aclnn_check::dtype_bit(query_index.scalar_type());
  Operands(kRows)
      .take("query_index", query_index, kTrained)
      .take("key_index", key_index, same)
      .take("weights", weights, same | dtypes({at::kFloat}));
  batch.check();
  check_weights(batch, weights);
  const auto type = query_index.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto options = query_index.options().dtype(type);
  std::vector<c10::SymInt> sizes = {1, query_index.sym_size(0)};
  if (!batch.is_packed()) sizes = {query_index.sym_size(0), 1, query_index.sym_size(1)};
  if (query_index.is_meta()) return {at::empty_symint(sizes, options), at::empty_symint(sizes, options)};
  const Tensor q = in_compute_type(query_index).flatten(0, -3), w = weights.to(type).flatten(0, -2);
  const Tensor keys = in_compute_type(key_index).flatten(0, -3).select(1, 0);
  const Tensor largest = at::zeros_symint(sizes, options), sums = at::zeros_symint(sizes, options);
  const Tensor largest_rows = largest.view({-1}), sum_rows = sums.view({-1});
  batch.for_each(q.size(1) * std::max<int64_t>(1, keys.size(0)),
                 [&](const Span& own, const Span& theirs, int64_t from, int64_t to) {
                   const auto part = [&](const Tensor& t) { return t.slice(0, own.begin + from, own.begin + to); };
                   const Tensor ends = batch.ends(own, theirs, from, to);
                   const Tensor is_seen = at::arange(theirs.count, q.options().dtype(at::kLong)) < ends;
                   const Scores s = scores_of(part(q), keys.slice(0, theirs.begin, theirs.end()), part(w), is_seen);
                   const Tensor top = s.sums.amax({-1}, true);
                   const Tensor finite = at::where(top.isneginf(), 0, top);
                   part(largest_rows).copy_(finite.squeeze(-1));
                   part(sum_rows).copy_((s.sums - finite).exp().sum(-1));
                 });
  return {largest, sums};
}

}  // namespace torch_npu::custom
