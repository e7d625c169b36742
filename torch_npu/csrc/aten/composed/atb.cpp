// Operators of namespace atb that are compositions of ATen's. Attention has no mask here: each query of a prompt sees
// all keys of its sequence.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <algorithm>
#include <limits>

#include "aten/composed/operands.h"
#include "aten/composed/sequences.h"
#include "aten/custom/written_arguments.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using OptionalText = std::optional<c10::string_view>;
using Lengths = c10::SymIntArrayRef;
using OptionalLengths = c10::OptionalArrayRef<c10::SymInt>;

constexpr aclnn_check::Dtypes kServedTypes = dtypes({at::kHalf, at::kBFloat16, at::kFloat});

bool is_there(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

void refuse_mask(const char* name, const OptionalTensor& mask) {
  TORCH_CHECK_NOT_IMPLEMENTED(!is_there(mask), "atb::", name, ": mask is given: None is taken");
}

std::vector<int64_t> known(Lengths lengths) {
  std::vector<int64_t> found;
  for (const c10::SymInt& length : lengths) found.push_back(length.guard_int(__FILE__, __LINE__));
  return found;
}

// The attention of q [T, N, D] to k [S, M, D] and v [S, M, E], N a multiple of M, and the logarithms of sums [T, N].
std::pair<Tensor, Tensor> attend_all(const Tensor& q, const Tensor& k, const Tensor& v, double scale) {
  const int64_t groups = q.size(1) / std::max<int64_t>(1, k.size(1));
  const auto heads = [&](const Tensor& t) { return t.to(at::kFloat).repeat_interleave(groups, 1).transpose(0, 1); };
  const Tensor scores = at::matmul(q.to(at::kFloat).transpose(0, 1), heads(k).transpose(1, 2)) * scale;
  const Tensor out = at::matmul(scores.softmax(-1), heads(v)).transpose(0, 1);
  return {out, scores.logsumexp(-1).t()};
}

// Attention of sequences of queries, `counts` rows each, to keys in pages or, without a table, behind each other.
struct Served {
  const char* name;
  const Tensor& query;                   // [T, N, D]
  std::vector<int64_t> counts, lengths;  // of queries, of keys
  int64_t heads, key_heads;
  double scale;

  void check(const Tensor& key) const {
    TORCH_CHECK(query.dim() == 3 && query.size(1) == heads && key_heads > 0 && heads % key_heads == 0 &&
                    key.size(-2) == key_heads && counts.size() == lengths.size(),
                "atb::", name, ": query is of size ", query.sizes(), ", keys of size ", key.sizes(), ", num_heads ",
                heads, ", num_kv_heads ", key_heads, ", ", counts.size(), " sequences of queries and ", lengths.size(),
                " of keys");
    int64_t rows = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      TORCH_CHECK(counts[i] >= 0 && lengths[i] >= 0, "atb::", name, ": a sequence has ", counts[i], " queries and ",
                  lengths[i], " keys");
      rows += counts[i];
    }
    TORCH_CHECK(rows == query.size(0), "atb::", name, ": sequences have ", rows, " queries, there are ", query.size(0));
  }

  // Calls `rows_of(sequence, length)` for the keys and values of each sequence.
  template <typename Rows>
  std::pair<Tensor, Tensor> run(const Tensor& q, int64_t width, const Rows& rows_of) const {
    std::vector<Tensor> outs = {at::zeros({0, heads, width}, q.options().dtype(at::kFloat))};
    std::vector<Tensor> sums = {at::zeros({0, heads}, q.options().dtype(at::kFloat))};
    int64_t begin = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto [k, v] = rows_of(static_cast<int64_t>(i), lengths[i]);
      const auto [out, sum] = attend_all(q.slice(0, begin, begin + counts[i]), k, v, scale);
      outs.push_back(out);
      sums.push_back(sum);
      begin += counts[i];
    }
    return {at::cat(outs), at::cat(sums)};
  }
};

void write_rows(const Tensor& out, const Tensor& rows) { out.copy_(rows.reshape(out.sizes())); }

// ---- attention ----

void _npu_flash_attention_unpad(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& seq_len,
                                double scale_value, int64_t num_heads, int64_t num_kv_heads, Tensor& out) {
  constexpr const char* kName = "_npu_flash_attention_unpad";
  const auto same = aclnn_check::dtype_bit(query.scalar_type());
  Operands(kName)
      .take("query", query, kServedTypes)
      .take("key", key, same)
      .take("value", value, same)
      .take("out", out, same);
  const std::vector<int64_t> lengths = numbers_of(kName, "seq_len", seq_len);
  const Served served{kName, query, lengths, lengths, num_heads, num_kv_heads, scale_value};
  served.check(key);
  TORCH_CHECK(key.dim() == 3 && key.size(0) == query.size(0) && value.dim() == 3 && value.size(0) == key.size(0),
              "atb::", kName, ": key is of size ", key.sizes(), ", value of size ", value.sizes(),
              ": [T, N, D] is taken");
  int64_t begin = 0;
  const auto [result, sums] = served.run(query, value.size(2), [&](int64_t, int64_t length) {
    begin += length;
    return std::pair(key.slice(0, begin - length, begin), value.slice(0, begin - length, begin));
  });
  write_rows(out, result);
}

void _npu_flash_attention_unpad_v2(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& seq_len,
                                   double scale_value, int64_t num_heads, int64_t num_kv_heads,
                                   std::optional<int64_t> /*kernel_type*/, Tensor& out) {
  _npu_flash_attention_unpad(query, key, value, seq_len, scale_value, num_heads, num_kv_heads, out);
}

void _npu_paged_attention_mla(const Tensor& query, const Tensor& key_cache, int64_t num_kv_heads, int64_t num_heads,
                              double scale_value, const Tensor& block_table, const Tensor& context_lens,
                              int64_t mla_vheadsize, Tensor& out) {
  constexpr const char* kName = "_npu_paged_attention_mla";
  const auto same = aclnn_check::dtype_bit(query.scalar_type());
  Operands(kName)
      .take("query", query, kServedTypes)
      .take("key_cache", key_cache, same)
      .take("block_table", block_table, kIndexes)
      .take("out", out, same);
  const std::vector<int64_t> lengths = numbers_of(kName, "context_lens", context_lens);
  const Served served{kName,        query,      std::vector<int64_t>(lengths.size(), 1), lengths, num_heads,
                      num_kv_heads, scale_value};
  served.check(key_cache);
  TORCH_CHECK(key_cache.dim() == 4 && key_cache.size(3) == query.size(2) && mla_vheadsize > 0 &&
                  mla_vheadsize <= key_cache.size(3),
              "atb::", kName, ": key_cache is of size ", key_cache.sizes(), " for a query of size ", query.sizes(),
              ", mla_vheadsize ", mla_vheadsize);
  const auto [result, sums] = served.run(query, mla_vheadsize, [&](int64_t sequence, int64_t length) {
    const Tensor rows = rows_of_pages(kName, key_cache, block_table, sequence, length);
    return std::pair(rows, rows.slice(2, 0, mla_vheadsize));
  });
  write_rows(out, result);
}

Tensor& _npu_paged_attention_v2_out(const Tensor& query, const Tensor& key_cache, const Tensor& block_table,
                                    Lengths context_lens, const OptionalTensor& value_cache, const OptionalTensor& mask,
                                    int64_t num_kv_heads, int64_t num_heads, double scale_value, int64_t /*mask_type*/,
                                    const OptionalTensor& /*workspace*/, Tensor& out) {
  constexpr const char* kName = "_npu_paged_attention_v2";
  const auto same = aclnn_check::dtype_bit(query.scalar_type());
  Operands(kName)
      .take("query", query, kServedTypes)
      .take("key_cache", key_cache, same)
      .take("block_table", block_table, kIndexes)
      .take("value_cache", value_cache, same)
      .take("out", out, same);
  refuse_mask(kName, mask);
  const std::vector<int64_t> lengths = known(context_lens);
  const Served served{kName,        query,      std::vector<int64_t>(lengths.size(), 1), lengths, num_heads,
                      num_kv_heads, scale_value};
  served.check(key_cache);
  const Tensor& values = is_there(value_cache) ? *value_cache : key_cache;
  const auto [result, sums] = served.run(query, values.size(-1), [&](int64_t sequence, int64_t length) {
    return std::pair(rows_of_pages(kName, key_cache, block_table, sequence, length),
                     rows_of_pages(kName, values, block_table, sequence, length));
  });
  write_rows(out, result);
  return out;
}

// ---- latent attention ----

std::pair<Tensor, Tensor> latent(const Tensor& q_nope, const Tensor& q_rope, const Tensor& ctkv, const Tensor& k_rope,
                                 const Tensor& block_tables, Lengths context_lens, int64_t q_headnum, double qk_scale,
                                 int64_t kv_headnum, const OptionalTensor& mask, OptionalLengths qseqlen,
                                 const OptionalTensor& qk_descale, const OptionalTensor& pv_descale,
                                 OptionalText cache_mode) {
  constexpr const char* kName = "npu_multi_head_latent_attention";
  const auto same = aclnn_check::dtype_bit(q_nope.scalar_type());
  Operands(kName)
      .take("q_nope", q_nope, kServedTypes)
      .take("q_rope", q_rope, same)
      .take("ctkv", ctkv, same)
      .take("k_rope", k_rope, same)
      .take("block_tables", block_tables, kIndexes);
  refuse_mask(kName, mask);
  TORCH_CHECK_NOT_IMPLEMENTED(
      !is_there(qk_descale) && !is_there(pv_descale) && cache_mode.value_or("krope_ctkv") == "krope_ctkv",
      "atb::", kName, ": cache_mode is '", cache_mode.value_or("krope_ctkv"),
      "', or qk_descale or pv_descale is given: 'krope_ctkv' without them is taken");
  const std::vector<int64_t> lengths = known(context_lens);
  const std::vector<int64_t> counts = qseqlen.has_value() ? known(*qseqlen) : std::vector<int64_t>(lengths.size(), 1);
  const Served served{kName, q_nope, counts, lengths, q_headnum, kv_headnum, qk_scale};
  served.check(ctkv);
  TORCH_CHECK(ctkv.dim() == 4 && k_rope.dim() == 4 && ctkv.size(3) == q_nope.size(2) && q_rope.dim() == 3 &&
                  k_rope.size(3) == q_rope.size(2) && q_rope.size(0) == q_nope.size(0),
              "atb::", kName, ": q_nope is of size ", q_nope.sizes(), ", q_rope of size ", q_rope.sizes(),
              ", ctkv of size ", ctkv.sizes(), ", k_rope of size ", k_rope.sizes());
  return served.run(at::cat({q_nope, q_rope}, -1), q_nope.size(2), [&](int64_t sequence, int64_t length) {
    const Tensor rows = rows_of_pages(kName, ctkv, block_tables, sequence, length);
    const Tensor keys = at::cat({rows, rows_of_pages(kName, k_rope, block_tables, sequence, length)}, -1);
    return std::pair(keys, rows);
  });
}

Tensor npu_multi_head_latent_attention(const Tensor& q_nope, const Tensor& q_rope, const Tensor& ctkv,
                                       const Tensor& k_rope, const Tensor& block_tables, Lengths context_lens,
                                       int64_t q_headnum, double qk_scale, int64_t kv_headnum,
                                       const OptionalTensor& mask, OptionalLengths qseqlen,
                                       const OptionalTensor& qk_descale, const OptionalTensor& pv_descale,
                                       OptionalText /*mask_type*/, OptionalText /*calc_type*/,
                                       OptionalText cache_mode) {
  return latent(q_nope, q_rope, ctkv, k_rope, block_tables, context_lens, q_headnum, qk_scale, kv_headnum, mask,
                qseqlen, qk_descale, pv_descale, cache_mode)
      .first.to(q_nope.scalar_type());
}

Tensor& npu_multi_head_latent_attention_out(const Tensor& q_nope, const Tensor& q_rope, const Tensor& ctkv,
                                            const Tensor& k_rope, const Tensor& block_tables, Lengths context_lens,
                                            int64_t q_headnum, double qk_scale, int64_t kv_headnum,
                                            const OptionalTensor& mask, OptionalLengths qseqlen,
                                            const OptionalTensor& qk_descale, const OptionalTensor& pv_descale,
                                            OptionalText /*mask_type*/, OptionalText /*calc_type*/,
                                            OptionalText cache_mode, Tensor& output) {
  write_rows(output, latent(q_nope, q_rope, ctkv, k_rope, block_tables, context_lens, q_headnum, qk_scale, kv_headnum,
                            mask, qseqlen, qk_descale, pv_descale, cache_mode)
                         .first);
  return output;
}

// With the logarithms of the rows' sums, [T, N].
std::tuple<Tensor, Tensor> npu_multi_head_latent_attention_lse(
    const Tensor& q_nope, const Tensor& q_rope, const Tensor& ctkv, const Tensor& k_rope, const Tensor& block_tables,
    Lengths context_lens, int64_t q_headnum, double qk_scale, int64_t kv_headnum, bool return_lse,
    const OptionalTensor& mask, OptionalLengths qseqlen, const OptionalTensor& qk_descale,
    const OptionalTensor& pv_descale, OptionalText /*mask_type*/, OptionalText /*calc_type*/, OptionalText cache_mode,
    const OptionalTensor& /*workspace*/) {
  const auto [out, sums] = latent(q_nope, q_rope, ctkv, k_rope, block_tables, context_lens, q_headnum, qk_scale,
                                  kv_headnum, mask, qseqlen, qk_descale, pv_descale, cache_mode);
  return {out.to(q_nope.scalar_type()), return_lse ? sums.to(q_nope.scalar_type()) : at::empty({0}, q_nope.options())};
}

std::tuple<Tensor&, Tensor&> npu_multi_head_latent_attention_lse_out(
    const Tensor& q_nope, const Tensor& q_rope, const Tensor& ctkv, const Tensor& k_rope, const Tensor& block_tables,
    Lengths context_lens, int64_t q_headnum, double qk_scale, int64_t kv_headnum, bool return_lse,
    const OptionalTensor& mask, OptionalLengths qseqlen, const OptionalTensor& qk_descale,
    const OptionalTensor& pv_descale, OptionalText /*mask_type*/, OptionalText /*calc_type*/, OptionalText cache_mode,
    const OptionalTensor& /*workspace*/, Tensor& output, Tensor& lse) {
  const auto [out, sums] = latent(q_nope, q_rope, ctkv, k_rope, block_tables, context_lens, q_headnum, qk_scale,
                                  kv_headnum, mask, qseqlen, qk_descale, pv_descale, cache_mode);
  write_rows(output, out);
  if (return_lse) write_rows(lse, sums);
  return {output, lse};
}

// ---- caches, products, experts ----

std::pair<Tensor, Tensor> loaded(const Tensor& key_cache, const Tensor& value_cache, const Tensor& block_table,
                                 const Tensor& context_lens, const OptionalTensor& seq_starts, bool cumsum) {
  constexpr const char* kName = "npu_paged_cache_load";
  Operands(kName)
      .take("key_cache", key_cache)
      .take("value_cache", value_cache)
      .take("block_table", block_table, kIndexes);
  TORCH_CHECK(key_cache.dim() == 4 && value_cache.dim() == 4, "atb::", kName, ": key_cache is of size ",
              key_cache.sizes(), ", value_cache of size ", value_cache.sizes(), ": pages [P, block, N, D] are taken");
  std::vector<int64_t> lengths = numbers_of(kName, "context_lens", context_lens);
  if (cumsum) {  // ends, the first one 0 or the first sequence's
    const bool has_zero = !lengths.empty() && static_cast<int64_t>(lengths.size()) == block_table.size(0) + 1;
    std::vector<int64_t> counts;
    for (std::size_t i = has_zero ? 1 : 0; i < lengths.size(); ++i) {
      counts.push_back(lengths[i] - (i > 0 ? lengths[i - 1] : 0));
    }
    lengths = counts;
  }
  std::vector<int64_t> starts(lengths.size());
  if (is_there(seq_starts)) starts = numbers_of(kName, "seq_starts", *seq_starts);
  TORCH_CHECK(starts.size() == lengths.size(), "atb::", kName, ": seq_starts has ", starts.size(), " numbers for ",
              lengths.size(), " sequences");
  const auto rows = [&](const Tensor& cache) {
    std::vector<Tensor> parts = {at::empty({0, cache.size(2), cache.size(3)}, cache.options())};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      TORCH_CHECK(lengths[i] >= 0 && starts[i] >= 0, "atb::", kName, ": a sequence has ", lengths[i], " rows from row ",
                  starts[i]);
      parts.push_back(rows_of_pages(kName, cache, block_table, static_cast<int64_t>(i), starts[i] + lengths[i])
                          .slice(0, starts[i]));
    }
    return at::cat(parts);
  };
  return {rows(key_cache), rows(value_cache)};
}

std::tuple<Tensor, Tensor> npu_paged_cache_load(const Tensor& key_cache, const Tensor& value_cache,
                                                const Tensor& block_table, const Tensor& context_lens,
                                                const OptionalTensor& seq_starts, bool cumsum) {
  const auto [key, value] = loaded(key_cache, value_cache, block_table, context_lens, seq_starts, cumsum);
  return {key, value};
}

std::tuple<Tensor&, Tensor&> npu_paged_cache_load_out(const Tensor& key_cache, const Tensor& value_cache,
                                                      const Tensor& block_table, const Tensor& context_lens,
                                                      const OptionalTensor& seq_starts, bool cumsum, Tensor& key,
                                                      Tensor& value) {
  const auto [keys, values] = loaded(key_cache, value_cache, block_table, context_lens, seq_starts, cumsum);
  write_rows(key, keys);
  write_rows(value, values);
  return {key, value};
}

// C += x' weight
void _npu_matmul_add_fp32(const Tensor& x, const Tensor& weight, Tensor& C) {
  constexpr const char* kName = "_npu_matmul_add_fp32";
  const auto same = aclnn_check::dtype_bit(x.scalar_type());
  Operands(kName).take("x", x, kServedTypes).take("weight", weight, same).take("C", C, dtypes({at::kFloat}));
  TORCH_CHECK(x.dim() == 2 && weight.dim() == 2 && x.size(0) == weight.size(0) && C.dim() == 2 &&
                  C.size(0) == x.size(1) && C.size(1) == weight.size(1),
              "atb::", kName, ": x is of size ", x.sizes(), ", weight of size ", weight.sizes(), ", C of size ",
              C.sizes(), ": [K, M], [K, N] and [M, N] are taken");
  C.add_(at::mm(x.to(at::kFloat).t(), weight.to(at::kFloat)));
}

void _npu_quantize_per_tensor(const Tensor& x, const Tensor& scale, const Tensor& zero_point, Tensor& y) {
  constexpr const char* kName = "_npu_quantize_per_tensor";
  Operands(kName)
      .take("x", x, kServedTypes)
      .take("scale", scale, kServedTypes)
      .take("zero_point", zero_point, kServedTypes | dtypes({at::kChar, at::kInt}))
      .take("y", y, dtypes({at::kChar}));
  constexpr int64_t kLeast = -128, kMax = 127;
  TORCH_CHECK(y.sizes() == x.sizes(), "atb::", kName, ": y is of size ", y.sizes(), " for x of size ", x.sizes());
  const Tensor values = x.to(at::kFloat) / scale.to(at::kFloat) + zero_point.to(at::kFloat);
  y.copy_(values.round().clamp(kLeast, kMax));
}

// Keeps `k` of the groups of each row's scores, by the sums of their best `n`, and makes the others zero, in place.
void _npu_group_topk(const Tensor& self, int64_t k, int64_t group_num, int64_t n) {
  constexpr const char* kName = "_npu_group_topk";
  Operands(kName).take("self", self, kServedTypes);
  TORCH_CHECK(self.dim() == 2 && group_num > 0 && self.size(1) % group_num == 0 && k > 0 && k <= group_num && n > 0 &&
                  n <= self.size(1) / group_num,
              "atb::", kName, ": self is of size ", self.sizes(), ", k ", k, ", group_num ", group_num, ", n ", n,
              ": [T, E] with E a multiple of group_num is taken, k up to it, n up to a group's scores");
  const Tensor groups = self.reshape({self.size(0), group_num, -1});
  const Tensor best = std::get<0>(groups.topk(n, -1)).sum(-1);
  const Tensor chosen = std::get<1>(best.topk(k, -1));
  const Tensor is_kept = at::zeros_like(best).scatter(1, chosen, 1).unsqueeze(2);
  self.copy_((groups * is_kept).reshape(self.sizes()));
}

std::pair<Tensor, Tensor> best_experts(const Tensor& x, const Tensor& add_num, const OptionalTensor& mapping_num,
                                       const OptionalTensor& mapping_table, OptionalText activation_type,
                                       int64_t group_num, int64_t group_topk, int64_t n, int64_t k, bool is_norm,
                                       double scale, bool enable_expert_mapping) {
  constexpr const char* kName = "npu_fused_add_topk_div";
  Operands(kName).take("x", x, kServedTypes).take("add_num", add_num, kServedTypes);
  TORCH_CHECK_NOT_IMPLEMENTED(!is_there(mapping_num) && !is_there(mapping_table) && !enable_expert_mapping,
                              "atb::", kName,
                              ": mapping_num, mapping_table or enable_expert_mapping is given: none is taken");
  TORCH_CHECK(activation_type.value_or("activation_sigmoid") == "activation_sigmoid", "atb::", kName,
              ": activation_type is '", *activation_type, "': 'activation_sigmoid' is taken");
  TORCH_CHECK(x.dim() == 2 && add_num.dim() == 1 && add_num.size(0) == x.size(1) && group_num > 0 &&
                  x.size(1) % group_num == 0 && group_topk > 0 && group_topk <= group_num && n > 0 &&
                  n <= x.size(1) / group_num && k > 0 && k <= group_topk * (x.size(1) / group_num),
              "atb::", kName, ": x is of size ", x.sizes(), ", add_num of size ", add_num.sizes(), ", group_num ",
              group_num, ", group_topk ", group_topk, ", n ", n, ", k ", k);
  const Tensor scores = x.to(at::kFloat).sigmoid();
  const Tensor groups = (scores + add_num.to(at::kFloat)).reshape({x.size(0), group_num, -1});
  const Tensor chosen = std::get<1>(std::get<0>(groups.topk(n, -1)).sum(-1).topk(group_topk, -1));
  const Tensor is_kept = at::zeros({x.size(0), group_num}, groups.options()).scatter(1, chosen, 1).unsqueeze(2) > 0;
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const Tensor masked = groups.masked_fill(at::logical_not(is_kept), kNone).reshape(x.sizes());
  const Tensor which = std::get<1>(at::sort(masked, /*stable=*/true, -1, /*descending=*/true)).slice(1, 0, k);
  Tensor y = scores.gather(1, which);
  if (is_norm) y = y / y.sum(-1, true);
  return {y * scale, which.to(at::kInt)};
}

std::tuple<Tensor, Tensor> npu_fused_add_topk_div(const Tensor& x, const Tensor& add_num,
                                                  const OptionalTensor& mapping_num,
                                                  const OptionalTensor& mapping_table, OptionalText activation_type,
                                                  int64_t group_num, int64_t group_topk, int64_t n, int64_t k,
                                                  bool is_norm, double scale, bool enable_expert_mapping) {
  const auto [y, which] = best_experts(x, add_num, mapping_num, mapping_table, activation_type, group_num, group_topk,
                                       n, k, is_norm, scale, enable_expert_mapping);
  return {y, which};
}

std::tuple<Tensor&, Tensor&> npu_fused_add_topk_div_out(
    const Tensor& x, const Tensor& add_num, const OptionalTensor& mapping_num, const OptionalTensor& mapping_table,
    OptionalText activation_type, int64_t group_num, int64_t group_topk, int64_t n, int64_t k, bool is_norm,
    double scale, bool enable_expert_mapping, Tensor& y, Tensor& indices) {
  const auto [values, which] = best_experts(x, add_num, mapping_num, mapping_table, activation_type, group_num,
                                            group_topk, n, k, is_norm, scale, enable_expert_mapping);
  write_rows(y, values);
  write_rows(indices, which);
  return {y, indices};
}

// Attention needs no memory but its results: an empty workspace.
Tensor no_workspace(const Tensor& like) { return at::empty({0}, like.options().dtype(at::kByte)); }

Tensor _npu_paged_attention_get_workspace(const Tensor& query, const Tensor&, const Tensor&, int64_t, int64_t, double,
                                          const Tensor&, const Tensor&, Tensor&) {
  return no_workspace(query);
}

Tensor _npu_paged_attention_v2_get_workspace(const Tensor& query, const Tensor&, const Tensor&, Lengths,
                                             const OptionalTensor&, const OptionalTensor&, int64_t, int64_t, double,
                                             int64_t, Tensor&) {
  return no_workspace(query);
}

Tensor _npu_multi_head_latent_attention_get_workspace(const Tensor& q_nope, const Tensor&, const Tensor&, const Tensor&,
                                                      const Tensor&, Lengths, int64_t, double, int64_t, bool,
                                                      const OptionalTensor&, OptionalLengths, const OptionalTensor&,
                                                      const OptionalTensor&, OptionalText, OptionalText, OptionalText) {
  return no_workspace(q_nope);
}

// ---- of meta tensors ----

Tensor meta_latent(const Tensor& q_nope, const Tensor& q_rope, const Tensor&, const Tensor&, const Tensor&, Lengths,
                   int64_t, double, int64_t, const OptionalTensor&, OptionalLengths, const OptionalTensor&,
                   const OptionalTensor&, OptionalText, OptionalText, OptionalText) {
  return at::empty_symint(q_nope.sym_sizes(), q_rope.options());
}

std::tuple<Tensor, Tensor> meta_latent_lse(const Tensor& q_nope, const Tensor& q_rope, const Tensor&, const Tensor&,
                                           const Tensor&, Lengths, int64_t, double, int64_t, bool return_lse,
                                           const OptionalTensor&, OptionalLengths, const OptionalTensor&,
                                           const OptionalTensor&, OptionalText, OptionalText, OptionalText,
                                           const OptionalTensor&) {
  return {at::empty_symint(q_nope.sym_sizes(), q_rope.options()),
          return_lse ? at::empty_symint({q_nope.sym_size(0), q_nope.sym_size(1)}, q_rope.options())
                     : at::empty({0}, q_rope.options())};
}

std::tuple<Tensor, Tensor> meta_cache_load(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                           const OptionalTensor&, bool) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "atb::npu_paged_cache_load: the size of the result depends on context_lens");
}

std::tuple<Tensor, Tensor> meta_best_experts(const Tensor& x, const Tensor&, const OptionalTensor&,
                                             const OptionalTensor&, OptionalText, int64_t, int64_t, int64_t, int64_t k,
                                             bool, double, bool) {
  return {at::empty_symint({x.sym_size(0), k}, x.options().dtype(at::kFloat)),
          at::empty_symint({x.sym_size(0), k}, x.options().dtype(at::kInt))};
}

constexpr std::initializer_list<const char*> kWriting = {
    "_npu_flash_attention_unpad",
    "_npu_flash_attention_unpad_v2",
    "_npu_paged_attention_mla",
    "_npu_paged_attention_v2.out",
    "npu_multi_head_latent_attention.out",
    "npu_multi_head_latent_attention.lse_out",
    "npu_paged_cache_load.out",
    "_npu_matmul_add_fp32",
    "_npu_quantize_per_tensor",
    "_npu_group_topk",
    "npu_fused_add_topk_div.out",
};

constexpr std::initializer_list<const char*> kNames = {
    "_npu_flash_attention_unpad",
    "_npu_flash_attention_unpad_v2",
    "_npu_paged_attention_mla",
    "_npu_paged_attention_v2.out",
    "npu_multi_head_latent_attention",
    "npu_multi_head_latent_attention.out",
    "npu_multi_head_latent_attention.lse",
    "npu_multi_head_latent_attention.lse_out",
    "npu_paged_cache_load",
    "npu_paged_cache_load.out",
    "_npu_matmul_add_fp32",
    "_npu_quantize_per_tensor",
    "_npu_group_topk",
    "npu_fused_add_topk_div",
    "npu_fused_add_topk_div.out",
    "_npu_paged_attention_get_workspace",
    "_npu_paged_attention_v2_get_workspace",
    "_npu_multi_head_latent_attention_get_workspace.lse",
};

TORCH_LIBRARY_IMPL(atb, PrivateUse1, m) {
  m.impl("_npu_flash_attention_unpad", &_npu_flash_attention_unpad);
  m.impl("_npu_flash_attention_unpad_v2", &_npu_flash_attention_unpad_v2);
  m.impl("_npu_paged_attention_mla", &_npu_paged_attention_mla);
  m.impl("_npu_paged_attention_v2.out", &_npu_paged_attention_v2_out);
  m.impl("npu_multi_head_latent_attention", &npu_multi_head_latent_attention);
  m.impl("npu_multi_head_latent_attention.out", &npu_multi_head_latent_attention_out);
  m.impl("npu_multi_head_latent_attention.lse", &npu_multi_head_latent_attention_lse);
  m.impl("npu_multi_head_latent_attention.lse_out", &npu_multi_head_latent_attention_lse_out);
  m.impl("npu_paged_cache_load", &npu_paged_cache_load);
  m.impl("npu_paged_cache_load.out", &npu_paged_cache_load_out);
  m.impl("_npu_matmul_add_fp32", &_npu_matmul_add_fp32);
  m.impl("_npu_quantize_per_tensor", &_npu_quantize_per_tensor);
  m.impl("_npu_group_topk", &_npu_group_topk);
  m.impl("npu_fused_add_topk_div", &npu_fused_add_topk_div);
  m.impl("npu_fused_add_topk_div.out", &npu_fused_add_topk_div_out);
  m.impl("_npu_paged_attention_get_workspace", &_npu_paged_attention_get_workspace);
  m.impl("_npu_paged_attention_v2_get_workspace", &_npu_paged_attention_v2_get_workspace);
  m.impl("_npu_multi_head_latent_attention_get_workspace.lse", &_npu_multi_head_latent_attention_get_workspace);
}
TORCH_LIBRARY_IMPL(atb, Meta, m) {
  write_no_meta(m, kWriting);
  m.impl("npu_multi_head_latent_attention", &meta_latent);
  m.impl("npu_multi_head_latent_attention.lse", &meta_latent_lse);
  m.impl("npu_paged_cache_load", &meta_cache_load);
  m.impl("npu_fused_add_topk_div", &meta_best_experts);
  m.impl("_npu_paged_attention_get_workspace", &_npu_paged_attention_get_workspace);
  m.impl("_npu_paged_attention_v2_get_workspace", &_npu_paged_attention_v2_get_workspace);
  m.impl("_npu_multi_head_latent_attention_get_workspace.lse", &_npu_multi_head_latent_attention_get_workspace);
}
TORCH_LIBRARY_IMPL(atb, AutogradPrivateUse1, m) { refuse_derivatives(m, kNames); }
TORCH_LIBRARY_IMPL(atb, AutogradMeta, m) { refuse_derivatives(m, kNames); }
TORCH_LIBRARY_IMPL(atb, ADInplaceOrView, m) { count_written(m, kNames); }

}  // namespace
}  // namespace torch_npu::custom
