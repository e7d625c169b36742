// Attention to some keys of each query: which ones, by an indexer's scores, and attention to those. In float32, a few
// queries at a time, so that memory is linear in the sequence.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "aten/composed/operands.h"
#include "aten/composed/sequences.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

constexpr aclnn_check::Dtypes kAttended = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});
constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr int64_t kAtOnce = int64_t{1} << 24;  // numbers of a temporary

bool has_operand(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

// Queries and keys of a batch. Keys have one head.
struct Sequences {
  const char* name;
  const Tensor &query, &key;
  std::string_view query_layout, key_layout;
  const OptionalTensor &query_lengths, &key_lengths, &table;
  int64_t mode;

  void check() const {
    check_layouts();
    TORCH_CHECK(key.sym_size(-1) == query.sym_size(-1), "npu::", name, ": query is of size ", query.sym_sizes(),
                ", key of size ", key.sym_sizes(), ": one size of heads is taken");
  }

  void check_layouts() const {
    TORCH_CHECK(query_layout == "BSND" || query_layout == "TND", "npu::", name, ": layout_query is '", query_layout,
                "': 'BSND' and 'TND' are taken");
    TORCH_CHECK(key_layout == "PA_BSND" || key_layout == query_layout, "npu::", name, ": layout of keys is '",
                key_layout, "': 'PA_BSND' and layout_query are taken");
    TORCH_CHECK(mode == 0 || mode == 3, "npu::", name, ": sparse_mode is ", mode, ": 0 and 3 are taken");
    const int64_t dims = query_layout == "BSND" ? 4 : 3;
    TORCH_CHECK(query.dim() == dims && key.dim() == (key_layout == "TND" ? 3 : 4) && key.sym_size(-2) == 1,
                "npu::", name, ": query is of size ", query.sym_sizes(), ", key of size ", key.sym_sizes(),
                ": [B, S, N, D] or [T, N, D] and one head of keys are taken");
    TORCH_CHECK(key_layout != "PA_BSND" || (has_operand(table) && has_operand(key_lengths)), "npu::", name,
                ": block_table or the keys' lengths are None with keys in pages");
  }

  std::vector<Span> queries() const {
    return sequences_of(name, "actual_seq_lengths_query", query, query_layout, query_lengths);
  }
  // How many keys each sequence has, and where they begin; in pages nowhere.
  std::vector<Span> keys() const {
    if (key_layout != "PA_BSND") return sequences_of(name, "actual_seq_lengths_key", key, key_layout, key_lengths);
    std::vector<Span> found;
    for (const int64_t count : numbers_of(name, "actual_seq_lengths_key", *key_lengths)) found.push_back({0, count});
    return found;
  }
  // [length, D] of `tensor`, which has the layout of keys.
  Tensor rows(const Tensor& tensor, const Span& span, int64_t sequence) const {
    if (key_layout == "PA_BSND") return rows_of_pages(name, tensor, *table, sequence, span.count).select(1, 0);
    return tensor.flatten(0, -3).slice(0, span.begin, span.end()).select(1, 0);
  }

  // One more than the last key that a query sees, [queries, 1].
  Tensor ends(const Span& queries_of, const Span& keys_of, int64_t from, int64_t to) const {
    const Tensor numbers = at::arange(from, to, query.options().dtype(at::kLong)).unsqueeze(1);
    return mode == 3 ? numbers + (keys_of.count - queries_of.count + 1) : at::full_like(numbers, keys_of.count);
  }

  // Calls `function` with each sequence's number, its queries and keys, and a range of queries for which `each` numbers
  // a query are not too many.
  template <typename Function>
  void for_each(int64_t each, const Function& function) const {
    const std::vector<Span> own = queries(), theirs = keys();
    TORCH_CHECK(own.size() == theirs.size(), "npu::", name, ": there are ", own.size(), " sequences of queries and ",
                theirs.size(), " of keys");
    const int64_t step = std::max<int64_t>(1, kAtOnce / std::max<int64_t>(1, each));
    for (std::size_t b = 0; b < own.size(); ++b) {
      for (int64_t from = 0; from < own[b].count; from += step) {
        function(static_cast<int64_t>(b), own[b], theirs[b], from, std::min(own[b].count, from + step));
      }
    }
  }
};

// The scores of an indexer [queries, keys]: sum over heads of weights relu(q k').
Tensor indexed(const Tensor& q, const Tensor& k, const Tensor& weights) {
  return (at::matmul(q, k.t()).relu() * weights.unsqueeze(-1)).sum(1);
}

// Writes the keys with the best scores of each query to `indices` [..., 1, count], and the scores to `values`, if there
// are any. `keys_of` gives the rows [keys, D] of a sequence.
template <typename KeysOf>
void choose(const Sequences& s, const Tensor& q, const Tensor& w, const KeysOf& keys_of, const Tensor& indices,
            const Tensor& values) {
  const int64_t most = indices.size(-1);
  const bool has_values = values.defined() && values.numel() > 0;
  const Tensor index_rows = indices.view({-1, most});
  int64_t longest = 1;
  for (const Span& span : s.keys()) longest = std::max(longest, span.count);
  s.for_each(q.size(1) * longest, [&](int64_t b, const Span& own, const Span& theirs, int64_t from, int64_t to) {
    if (theirs.count == 0) return;
    const auto part = [&](const Tensor& t) { return t.slice(0, own.begin + from, own.begin + to); };
    const Tensor is_seen = at::arange(theirs.count, q.options().dtype(at::kLong)) < s.ends(own, theirs, from, to);
    const Tensor scores = indexed(part(q), keys_of(theirs, b), part(w)).masked_fill(at::logical_not(is_seen), kNever);
    const auto [best, which] = at::sort(scores, /*stable=*/true, -1, /*descending=*/true);
    const int64_t count = std::min(most, theirs.count);
    const Tensor top = best.slice(1, 0, count);
    part(index_rows).slice(1, 0, count).copy_(at::where(top.isneginf(), -1, which.slice(1, 0, count)));
    if (has_values) part(values.view({-1, most})).slice(1, 0, count).copy_(top);
  });
}

void check_indexer(const Sequences& s, const Tensor& weights) {
  const auto same = aclnn_check::dtype_bit(s.query.scalar_type());
  Operands(s.name)
      .take("query", s.query, kAttended)
      .take("key", s.key, same)
      .take("weights", weights, same | dtypes({at::kFloat}));
  s.check();
  TORCH_CHECK(weights.sym_sizes() == s.query.sym_sizes().slice(0, static_cast<std::size_t>(s.query.dim() - 1)),
              "npu::", s.name, ": weights is of size ", weights.sym_sizes(), " for a query of size ",
              s.query.sym_sizes(), ": all dimensions but the last are taken");
}

// Which rows a query takes: blocks of an index [queries, blocks], up to the first -1.
struct Chosen {
  Tensor rows, is_seen;  // [queries, blocks * size]
};
Chosen chosen_rows(const Tensor& index, int64_t size, const Tensor& ends, int64_t count) {
  const Tensor blocks = index.to(at::kLong);
  const Tensor is_block = at::cumprod((blocks >= 0).to(at::kLong), 1) > 0;
  const Tensor rows = (blocks.unsqueeze(2) * size + at::arange(size, blocks.options())).flatten(1);
  const Tensor is_seen = at::logical_and(is_block.unsqueeze(2).expand({-1, -1, size}).flatten(1),
                                         at::logical_and(rows < count, rows < ends));
  return {at::where(is_seen, rows, 0), is_seen};
}

struct Attended {
  Tensor out, largest, sum;  // [queries, N, D], [queries, N]
};

// Attention of q [queries, N, D] to keys [queries, K, D] where `is_seen` [queries, K] says so. Queries that see none
// get zeros.
Attended attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& is_seen, double scale,
                const Tensor& sink) {
  const Tensor scores =
      (at::matmul(q, k.transpose(1, 2)) * scale).masked_fill(at::logical_not(is_seen).unsqueeze(1), kNever);
  Tensor largest = scores.amax({-1}, true);
  if (sink.defined()) largest = at::maximum(largest, sink.reshape({1, -1, 1}));
  largest = at::where(largest.isneginf(), 0, largest).detach();
  const Tensor exponents = (scores - largest).exp();
  Tensor sum = exponents.sum(-1, true);
  if (sink.defined()) sum = sum + (sink.reshape({1, -1, 1}) - largest).exp();
  const Tensor out = at::matmul(exponents / at::where(sum > 0, sum, 1), v);
  return {out, largest.squeeze(-1), sum.squeeze(-1)};
}

// How keys are kept that are not numbers as they are: rows [..., K, bytes] give numbers [..., K, D], of which the first
// ones are the value.
struct Stored {
  std::function<Tensor(const Tensor& rows)> numbers;
  int64_t value_size;
};

struct SparseFlash {
  Sequences s;
  const OptionalTensor& value;
  const Tensor& index;
  double scale;
  int64_t block;
  const OptionalTensor &query_rope, &key_rope, &sinks;
  std::optional<Stored> stored = {};

  void check(int64_t attention_mode) const {
    const auto same = aclnn_check::dtype_bit(s.query.scalar_type());
    Operands(s.name)
        .take("query", s.query, kAttended)
        .take("key", s.key, same)
        .take("value", value, same)
        .take("sparse_indices", index, dtypes({at::kInt}))
        .take("query_rope", query_rope, same)
        .take("key_rope", key_rope, same)
        .take("sinks", sinks, same | dtypes({at::kFloat}));
    s.check();
    check_index();
    TORCH_CHECK(attention_mode == 0 || attention_mode == 2, "npu::", s.name, ": attention_mode is ", attention_mode,
                ": 0, and 2 with query_rope and key_rope, are taken");
    TORCH_CHECK((attention_mode == 2) == has_operand(query_rope) && has_operand(query_rope) == has_operand(key_rope),
                "npu::", s.name, ": query_rope is ", has_operand(query_rope) ? "given" : "None", ", key_rope ",
                has_operand(key_rope) ? "given" : "None", " with attention_mode ", attention_mode);
  }

  void check_index() const {
    TORCH_CHECK(index.dim() == s.query.dim() && index.sym_size(-2) == 1 && index.sym_size(0) == s.query.sym_size(0) &&
                    index.sym_size(1) == (s.query.dim() == 4 ? s.query.sym_size(1) : c10::SymInt(1)) && block > 0,
                "npu::", s.name, ": sparse_indices is of size ", index.sym_sizes(), " for a query of size ",
                s.query.sym_sizes(), ", sparse_block_size ", block);
  }

  // Results in the compute type, [all queries, N, D] and [all queries, N].
  Attended run(const Tensor& query, const Tensor& key, const Tensor& values, const Tensor& q_rope,
               const Tensor& k_rope) const {
    const Tensor q = query.flatten(0, -3), chosen = index.flatten(0, -3).select(1, 0);
    const int64_t heads = q.size(1), width = stored ? stored->value_size : values.size(-1), rows = q.size(0);
    const auto options = q.options();
    std::vector<Tensor> outs, largest, sums;
    int64_t done = 0;
    const auto skip = [&](int64_t to) {  // queries that no sequence has
      if (to == done) return;
      outs.push_back(at::zeros({to - done, heads, width}, options));
      largest.push_back(at::zeros({to - done, heads}, options));
      sums.push_back(at::zeros({to - done, heads}, options));
      done = to;
    };
    const Tensor sink = has_operand(sinks) ? sinks->to(q.scalar_type()) : Tensor();
    s.for_each(chosen.size(1) * block * (2 * q.size(2) + heads),
               [&](int64_t b, const Span& own, const Span& theirs, int64_t from, int64_t to) {
                 skip(own.begin + from);
                 const auto part = [&](const Tensor& t) { return t.slice(0, own.begin + from, own.begin + to); };
                 const Chosen c = chosen_rows(part(chosen), block, s.ends(own, theirs, from, to), theirs.count);
                 const auto gathered = [&](const Tensor& tensor) {
                   const Tensor sequence = s.rows(tensor, theirs, b);
                   return sequence.index_select(0, c.rows.flatten()).reshape({to - from, -1, sequence.size(1)});
                 };
                 if (theirs.count == 0) {
                   skip(own.begin + to);
                   return;
                 }
                 Tensor keys = gathered(key), queries = part(q);
                 if (q_rope.defined()) {
                   keys = at::cat({keys, gathered(k_rope)}, -1);
                   queries = at::cat({queries, part(q_rope.flatten(0, -3))}, -1);
                 }
                 if (stored) keys = stored->numbers(keys);
                 const Tensor own_values = stored ? keys.slice(-1, 0, width) : gathered(values);
                 const Attended a = attend(queries, keys, own_values, c.is_seen, scale, sink);
                 outs.push_back(a.out);
                 largest.push_back(a.largest);
                 sums.push_back(a.sum);
                 done = own.begin + to;
               });
    skip(rows);
    return {at::cat(outs), at::cat(largest), at::cat(sums)};
  }
};

Tensor computed(const OptionalTensor& tensor) { return has_operand(tensor) ? in_compute_type(*tensor) : Tensor(); }

}  // namespace

std::tuple<Tensor, Tensor> npu_lightning_indexer(const Tensor& query, const Tensor& key, const Tensor& weights,
                                                 const OptionalTensor& actual_seq_lengths_query,
                                                 const OptionalTensor& actual_seq_lengths_key,
                                                 const OptionalTensor& block_table, std::string_view layout_query,
                                                 std::string_view layout_key, int64_t sparse_count, int64_t sparse_mode,
                                                 int64_t /*pre_tokens*/, int64_t /*next_tokens*/, bool return_value) {
  const Sequences s{
      "npu_lightning_indexer", query,       key,        layout_query, layout_key, actual_seq_lengths_query,
      actual_seq_lengths_key,  block_table, sparse_mode};
  check_indexer(s, weights);
  Operands(s.name)
      .take("query", query, kAttended)
      .take("actual_seq_lengths_query", actual_seq_lengths_query, kIndexes)
      .take("actual_seq_lengths_key", actual_seq_lengths_key, kIndexes)
      .take("block_table", block_table, kIndexes);
  TORCH_CHECK(sparse_count > 0, "npu::", s.name, ": sparse_count is ", sparse_count, ": a positive number is taken");
  std::vector<c10::SymInt> sizes = query.sym_sizes().vec();
  sizes[sizes.size() - 2] = 1;
  sizes.back() = sparse_count;
  const Tensor none = at::empty({0}, query.options());
  if (query.is_meta()) {
    return {at::empty_symint(sizes, query.options().dtype(at::kInt)),
            return_value ? at::empty_symint(sizes, query.options()) : none};
  }
  const Tensor indices = at::full_symint(sizes, -1, query.options().dtype(at::kInt));
  const Tensor values = return_value ? at::full_symint(sizes, kNever, query.options()) : none;
  const Tensor q = in_compute_type(query).flatten(0, -3), w = weights.to(q.scalar_type()).flatten(0, -2);
  choose(
      s, q, w, [&](const Span& theirs, int64_t b) { return in_compute_type(s.rows(key, theirs, b)); }, indices, values);
  return {indices, values};
}

Tensor npu_quant_lightning_indexer(const Tensor& query, const Tensor& key, const Tensor& weights,
                                   const Tensor& query_dequant_scale, const Tensor& key_dequant_scale,
                                   int64_t query_quant_mode, int64_t key_quant_mode,
                                   const OptionalTensor& actual_seq_lengths_query,
                                   const OptionalTensor& actual_seq_lengths_key, const OptionalTensor& block_table,
                                   std::string_view layout_query, std::string_view layout_key, int64_t sparse_count,
                                   int64_t sparse_mode, int64_t /*pre_tokens*/, int64_t /*next_tokens*/,
                                   std::optional<int64_t> query_dtype, std::optional<int64_t> key_dtype) {
  const Sequences s{
      "npu_quant_lightning_indexer", query,       key,        layout_query, layout_key, actual_seq_lengths_query,
      actual_seq_lengths_key,        block_table, sparse_mode};
  constexpr aclnn_check::Dtypes kStored = dtypes({at::kChar, at::kFloat8_e4m3fn});
  constexpr aclnn_check::Dtypes kScaling = dtypes({at::kHalf, at::kBFloat16, at::kFloat});
  Operands(s.name)
      .take("query", query, kStored)
      .take("key", key, aclnn_check::dtype_bit(query.scalar_type()))
      .take("weights", weights, kScaling)
      .take("query_dequant_scale", query_dequant_scale, kScaling)
      .take("key_dequant_scale", key_dequant_scale, kScaling)
      .take("actual_seq_lengths_query", actual_seq_lengths_query, kIndexes)
      .take("actual_seq_lengths_key", actual_seq_lengths_key, kIndexes)
      .take("block_table", block_table, kIndexes);
  s.check();
  const auto without_last = [](const Tensor& t) {
    return t.sym_sizes().slice(0, static_cast<std::size_t>(t.dim() - 1));
  };
  TORCH_CHECK(weights.sym_sizes() == without_last(query) && query_dequant_scale.sym_sizes() == without_last(query) &&
                  key_dequant_scale.sym_sizes() == without_last(key),
              "npu::", s.name, ": weights is of size ", weights.sym_sizes(), ", query_dequant_scale of size ",
              query_dequant_scale.sym_sizes(), ", key_dequant_scale of size ", key_dequant_scale.sym_sizes(),
              " for a query of size ", query.sym_sizes(), " and a key of size ", key.sym_sizes(),
              ": all dimensions but the last are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(
      query_quant_mode == 0 && key_quant_mode == 0 && !query_dtype.has_value() && !key_dtype.has_value(),
      "npu::", s.name, ": query_quant_mode is ", query_quant_mode, ", key_quant_mode ", key_quant_mode,
      ", or query_dtype or key_dtype is given: 0 and None are taken");
  TORCH_CHECK(sparse_count > 0, "npu::", s.name, ": sparse_count is ", sparse_count, ": a positive number is taken");
  std::vector<c10::SymInt> sizes = query.sym_sizes().vec();
  sizes[sizes.size() - 2] = 1;
  sizes.back() = sparse_count;
  const auto options = query.options().dtype(at::kInt);
  if (query.is_meta()) return at::empty_symint(sizes, options);
  const Tensor indices = at::full_symint(sizes, -1, options);
  const Tensor q = (query.to(at::kFloat) * query_dequant_scale.to(at::kFloat).unsqueeze(-1)).flatten(0, -3);
  const auto keys = [&](const Span& theirs, int64_t b) {
    return s.rows(key, theirs, b).to(at::kFloat) * s.rows(key_dequant_scale.unsqueeze(-1), theirs, b).to(at::kFloat);
  };
  choose(s, q, weights.to(at::kFloat).flatten(0, -2), keys, indices, {});
  return indices;
}

ThreeTensors npu_lightning_indexer_grad(const Tensor& query, const Tensor& key, const Tensor& dy,
                                        const Tensor& sparse_indices, const Tensor& weights,
                                        const OptionalTensor& actual_seq_lengths_query,
                                        const OptionalTensor& actual_seq_lengths_key,
                                        std::optional<std::string_view> layout, std::optional<int64_t> sparse_mode,
                                        std::optional<int64_t> /*pre_tokens*/, std::optional<int64_t> /*next_tokens*/) {
  const std::string_view name_of_layout = layout.value_or("BSND");
  const OptionalTensor no_table;
  const Sequences s{"npu_lightning_indexer_grad",
                    query,
                    key,
                    name_of_layout,
                    name_of_layout,
                    actual_seq_lengths_query,
                    actual_seq_lengths_key,
                    no_table,
                    sparse_mode.value_or(3)};
  check_indexer(s, weights);
  Operands(s.name)
      .take("query", query, kAttended)
      .take("dy", dy, kAttended)
      .take("sparse_indices", sparse_indices, dtypes({at::kInt}))
      .take("actual_seq_lengths_query", actual_seq_lengths_query, kIndexes)
      .take("actual_seq_lengths_key", actual_seq_lengths_key, kIndexes);
  TORCH_CHECK(dy.sym_sizes() == sparse_indices.sym_sizes(), "npu::", s.name, ": dy is of size ", dy.sym_sizes(),
              ", sparse_indices of size ", sparse_indices.sym_sizes(), ": one size is taken");
  if (query.is_meta()) {
    const auto empty_as = [](const Tensor& t) { return at::empty_symint(t.sym_sizes(), t.options()); };
    return {empty_as(query), empty_as(key), empty_as(weights)};
  }
  const Tensor chosen = sparse_indices.flatten(0, -2), grads = in_compute_type(dy).flatten(0, -2);
  const auto function = [&](const std::vector<Tensor>& inputs) {
    const Tensor q = inputs[0].flatten(0, -3), w = inputs[2].flatten(0, -2);
    Tensor total = at::zeros({}, q.options());
    s.for_each(key.numel() / std::max<int64_t>(1, key.size(-1)) * q.size(1),
               [&](int64_t b, const Span& own, const Span& theirs, int64_t from, int64_t to) {
                 if (theirs.count == 0) return;
                 const auto part = [&](const Tensor& t) { return t.slice(0, own.begin + from, own.begin + to); };
                 const Tensor index = part(chosen).to(at::kLong);
                 const Tensor scores = indexed(part(q), s.rows(inputs[1], theirs, b), part(w));
                 const Tensor taken = scores.gather(1, index.clamp_min(0));
                 total = total + (at::where(index >= 0, taken, 0) * at::where(index >= 0, part(grads), 0)).sum();
               });
    return std::vector<Tensor>{total};
  };
  const Tensor widened = in_compute_type(query);
  const std::vector<Tensor> found = gradients_of(
      function, {widened, in_compute_type(key), weights.to(widened.scalar_type())}, {at::ones({}, widened.options())});
  return {found[0].to(query.scalar_type()), found[1].to(key.scalar_type()), found[2].to(weights.scalar_type())};
}

ThreeTensors npu_sparse_flash_attention(const Tensor& query, const Tensor& key, const OptionalTensor& value,
                                        const Tensor& sparse_indices, double scale_value,
                                        const OptionalTensor& block_table,
                                        const OptionalTensor& actual_seq_lengths_query,
                                        const OptionalTensor& actual_seq_lengths_kv, const OptionalTensor& query_rope,
                                        const OptionalTensor& key_rope, int64_t sparse_block_size,
                                        std::string_view layout_query, std::string_view layout_kv, int64_t sparse_mode,
                                        int64_t /*pre_tokens*/, int64_t /*next_tokens*/, int64_t attention_mode,
                                        bool return_softmax_lse, const OptionalTensor& sinks) {
  const SparseFlash flash{{"npu_sparse_flash_attention", query, key, layout_query, layout_kv, actual_seq_lengths_query,
                           actual_seq_lengths_kv, block_table, sparse_mode},
                          value,
                          sparse_indices,
                          scale_value,
                          sparse_block_size,
                          query_rope,
                          key_rope,
                          sinks};
  flash.check(attention_mode);
  Operands(flash.s.name)
      .take("query", query, kAttended)
      .take("block_table", block_table, kIndexes)
      .take("actual_seq_lengths_query", actual_seq_lengths_query, kIndexes)
      .take("actual_seq_lengths_kv", actual_seq_lengths_kv, kIndexes);
  const bool is_packed = layout_query == "TND";
  const Tensor& values = has_operand(value) ? *value : key;
  std::vector<c10::SymInt> sizes = query.sym_sizes().vec();
  sizes.back() = values.sym_size(-1);
  std::vector<c10::SymInt> rows = {1, query.sym_size(0), query.sym_size(-2)};
  if (!is_packed) rows = {query.sym_size(0), 1, query.sym_size(1), query.sym_size(2)};
  const auto row_type = query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto no_rows = [&] { return at::empty({0}, query.options().dtype(row_type)); };
  const auto empty_rows = [&] { return at::empty_symint(rows, query.options().dtype(row_type)); };
  if (query.is_meta()) {
    return {at::empty_symint(sizes, query.options()), return_softmax_lse ? empty_rows() : no_rows(),
            return_softmax_lse ? empty_rows() : no_rows()};
  }
  const Attended a = flash.run(in_compute_type(query), in_compute_type(key), in_compute_type(values),
                               computed(query_rope), computed(key_rope));
  const Tensor out = a.out.reshape_symint(sizes).to(query.scalar_type());
  if (!return_softmax_lse) return {out, no_rows(), no_rows()};
  return {out, a.largest.reshape_symint(rows), a.sum.reshape_symint(rows)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> npu_sparse_flash_attention_grad(
    const Tensor& query, const Tensor& key, const OptionalTensor& value, const Tensor& sparse_indices,
    const Tensor& d_out, const Tensor& out, const Tensor& softmax_max, const Tensor& softmax_sum, double scale_value,
    int64_t sparse_block_size, const OptionalTensor& query_rope, const OptionalTensor& key_rope,
    const OptionalTensor& actual_seq_qlen, const OptionalTensor& actual_seq_kvlen,
    std::optional<std::string_view> layout, std::optional<int64_t> sparse_mode, std::optional<int64_t> /*pre_tokens*/,
    std::optional<int64_t> /*next_tokens*/, std::optional<int64_t> attention_mode) {
  const std::string_view of_rows = layout.value_or("BSND");
  const OptionalTensor none;
  const SparseFlash flash{{"npu_sparse_flash_attention_grad", query, key, of_rows, of_rows, actual_seq_qlen,
                           actual_seq_kvlen, none, sparse_mode.value_or(3)},
                          value,
                          sparse_indices,
                          scale_value,
                          sparse_block_size,
                          query_rope,
                          key_rope,
                          none};
  flash.check(attention_mode.value_or(0));
  Operands(flash.s.name)
      .take("query", query, kAttended)
      .take("d_out", d_out, kAttended)
      .take("out", out, kAttended)
      .take("softmax_max", softmax_max, kAttended)
      .take("softmax_sum", softmax_sum, kAttended)
      .take("actual_seq_qlen", actual_seq_qlen, kIndexes)
      .take("actual_seq_kvlen", actual_seq_kvlen, kIndexes);
  const bool has_value = has_operand(value), has_rope = has_operand(query_rope);
  const auto empty_as = [&](const OptionalTensor& t) {
    return has_operand(t) ? at::empty_symint(t->sym_sizes(), t->options()) : at::empty({0}, query.options());
  };
  if (query.is_meta())
    return {empty_as(query), empty_as(key), empty_as(value), empty_as(query_rope), empty_as(key_rope)};
  std::vector<Tensor> inputs = {in_compute_type(query), in_compute_type(key)};
  if (has_value) inputs.push_back(in_compute_type(*value));
  if (has_rope) inputs.insert(inputs.end(), {in_compute_type(*query_rope), in_compute_type(*key_rope)});
  const std::size_t rope = has_value ? 3 : 2;
  const auto function = [&](const std::vector<Tensor>& given) {
    const Attended a = flash.run(given[0], given[1], has_value ? given[2] : given[1], has_rope ? given[rope] : Tensor(),
                                 has_rope ? given[rope + 1] : Tensor());
    return std::vector<Tensor>{a.out};
  };
  std::vector<Tensor> found = gradients_of(function, inputs, {in_compute_type(d_out).flatten(0, -3).contiguous()});
  for (Tensor& grad : found) grad = grad.to(query.scalar_type());
  return {found[0], found[1], has_value ? found[2] : empty_as(value), has_rope ? found[rope] : empty_as(query_rope),
          has_rope ? found[rope + 1] : empty_as(key_rope)};
}

// A key has its numbers in one byte each, its rotated part in query's type, and a float32 for each tile of the former.
Tensor npu_kv_quant_sparse_flash_attention(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& sparse_indices, double scale_value,
    int64_t key_quant_mode, int64_t value_quant_mode, const OptionalTensor& key_dequant_scale,
    const OptionalTensor& value_dequant_scale, const OptionalTensor& block_table,
    const OptionalTensor& actual_seq_lengths_query, const OptionalTensor& actual_seq_lengths_kv,
    int64_t sparse_block_size, std::string_view layout_query, std::string_view layout_kv, int64_t sparse_mode,
    int64_t /*pre_tokens*/, int64_t /*next_tokens*/, int64_t attention_mode, int64_t quant_scale_repo_mode,
    int64_t tile_size, int64_t rope_head_dim, std::optional<int64_t> key_dtype, std::optional<int64_t> value_dtype) {
  constexpr const char* kName = "npu_kv_quant_sparse_flash_attention";
  constexpr int64_t kScaleBytes = 4, kTiles = 2, kLatent = 2, kWithKeys = 1;
  constexpr aclnn_check::Dtypes kStored = dtypes({at::kChar, at::kFloat8_e4m3fn});
  const OptionalTensor none;
  SparseFlash flash{{kName, query, key, layout_query, layout_kv, actual_seq_lengths_query, actual_seq_lengths_kv,
                     block_table, sparse_mode},
                    none,
                    sparse_indices,
                    scale_value,
                    sparse_block_size,
                    none,
                    none,
                    none};
  Operands(kName)
      .take("query", query, dtypes({at::kHalf, at::kBFloat16}))
      .take("key", key, kStored)
      .take("value", value, aclnn_check::dtype_bit(key.scalar_type()))
      .take("sparse_indices", sparse_indices, dtypes({at::kInt}))
      .take("block_table", block_table, kIndexes)
      .take("actual_seq_lengths_query", actual_seq_lengths_query, kIndexes)
      .take("actual_seq_lengths_kv", actual_seq_lengths_kv, kIndexes);
  TORCH_CHECK_NOT_IMPLEMENTED(
      key_quant_mode == kTiles && value_quant_mode == kTiles && attention_mode == kLatent &&
          quant_scale_repo_mode == kWithKeys && !has_operand(key_dequant_scale) && !has_operand(value_dequant_scale) &&
          !key_dtype.has_value() && !value_dtype.has_value(),
      "npu::", kName, ": key_quant_mode is ", key_quant_mode, ", value_quant_mode ", value_quant_mode,
      ", attention_mode ", attention_mode, ", quant_scale_repo_mode ", quant_scale_repo_mode,
      ", or key_dequant_scale, value_dequant_scale, key_dtype or value_dtype is given: 2, 2, 2, 1 and None are taken");
  flash.s.check_layouts();
  flash.check_index();
  const int64_t channels = query.sym_size(-1).guard_int(__FILE__, __LINE__), plain = channels - rope_head_dim;
  const int64_t rope_bytes = rope_head_dim * static_cast<int64_t>(query.element_size());
  TORCH_CHECK(tile_size > 0 && rope_head_dim >= 0 && plain > 0 && plain % tile_size == 0 &&
                  key.sym_size(-1) == plain + rope_bytes + plain / tile_size * kScaleBytes,
              "npu::", kName, ": key is of size ", key.sym_sizes(), " for a query of size ", query.sym_sizes(),
              ", tile_size ", tile_size, ", rope_head_dim ", rope_head_dim,
              ": D - rope_head_dim bytes, rope_head_dim numbers of query's type and a float32 for each tile are taken");
  TORCH_CHECK(value.sym_sizes() == key.sym_sizes() ||
                  (value.dim() == key.dim() && value.sym_size(-1) >= plain && value.sym_size(0) == key.sym_size(0)),
              "npu::", kName, ": value is of size ", value.sym_sizes(), ", key of size ", key.sym_sizes(),
              ": the value is the first part of the key");
  std::vector<c10::SymInt> sizes = query.sym_sizes().vec();
  sizes.back() = plain;
  if (query.is_meta()) return at::empty_symint(sizes, query.options());
  const auto type = query.scalar_type(), key_type = key.scalar_type();
  const auto numbers = [=](const Tensor& rows) {
    // A copy, so that the bytes are aligned.
    const auto part = [&](int64_t from, int64_t to, at::ScalarType of) {
      return rows.slice(-1, from, to).clone(at::MemoryFormat::Contiguous).view(of).to(at::kFloat);
    };
    const Tensor scales = part(plain + rope_bytes, rows.size(-1), at::kFloat);
    return at::cat(
        {part(0, plain, key_type) * scales.repeat_interleave(tile_size, -1), part(plain, plain + rope_bytes, type)},
        -1);
  };
  flash.stored = Stored{numbers, plain};
  // Rows are gathered as bytes.
  const Attended a = flash.run(in_compute_type(query), key.view(at::kChar), key, {}, {});
  return a.out.reshape_symint(sizes).to(type);
}

}  // namespace torch_npu::custom
