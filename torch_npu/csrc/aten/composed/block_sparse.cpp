// Attention to blocks of keys, in float32, a few queries at a time, so that memory is linear in the sequence.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <limits>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

constexpr aclnn_check::Dtypes kBlockTypes = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});
constexpr double kUnseen = -std::numeric_limits<double>::infinity();
constexpr int64_t kScoresAtOnce = int64_t{1} << 24;

// Attention to the blocks of keys that a mask [B, N, blocks of queries, blocks of keys] has.
struct BlockSparse {
  const char* name;
  const Tensor &query, &key, &value, &mask;
  at::IntArrayRef block;
  std::string_view query_layout, key_layout;
  int64_t key_heads;
  double scale;
  at::OptionalIntArrayRef query_lengths, key_lengths;

  void check() const {
    const auto same = aclnn_check::dtype_bit(query.scalar_type());
    Operands(name)
        .take("query", query, kBlockTypes)
        .take("key", key, same)
        .take("value", value, same)
        .take("block_sparse_mask", mask, dtypes({at::kChar, at::kByte, at::kBool}));
    const bool is_packed = query_layout == "TND";
    TORCH_CHECK((is_packed || query_layout == "BNSD") && key_layout == query_layout, "npu::", name,
                ": q_input_layout is '", query_layout, "', kv_input_layout '", key_layout,
                "': 'TND' or 'BNSD' for both is taken");
    TORCH_CHECK(!is_packed || (query_lengths.has_value() && key_lengths.has_value()), "npu::", name,
                ": actual_seq_lengths or actual_seq_lengths_kv is None with layout TND");
    TORCH_CHECK(block.size() >= 2 && block[0] > 0 && block[1] > 0, "npu::", name, ": block_shape is ", block,
                ": two positive numbers are taken");
    const int64_t dims = is_packed ? 3 : 4, heads_at = 1;
    TORCH_CHECK(
        query.dim() == dims && key.dim() == dims && value.sym_sizes() == key.sym_sizes() && key_heads > 0 &&
            key.sym_size(heads_at) == key_heads && query.sym_size(heads_at) % key_heads == 0 &&
            query.sym_size(-1) == key.sym_size(-1) && mask.dim() == 4 && mask.sym_size(1) == query.sym_size(heads_at),
        "npu::", name, ": query is of size ", query.sym_sizes(), ", key of size ", key.sym_sizes(), ", value of size ",
        value.sym_sizes(), ", block_sparse_mask of size ", mask.sym_sizes(), ", num_key_value_heads ", key_heads);
  }

  // [N, length, D] of each sequence.
  static std::vector<Tensor> split(const char* name, const char* role, const Tensor& rows, bool is_packed,
                                   at::OptionalIntArrayRef lengths) {
    std::vector<Tensor> found;
    int64_t begin = 0;
    const int64_t batch = is_packed ? static_cast<int64_t>(lengths->size()) : rows.size(0);
    TORCH_CHECK(!lengths.has_value() || static_cast<int64_t>(lengths->size()) == batch, "npu::", name, ": ", role,
                " has ", lengths.has_value() ? lengths->size() : 0, " numbers for ", batch, " sequences");
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t most = is_packed ? rows.size(0) - begin : rows.size(2);
      const int64_t length = lengths.has_value() ? (*lengths)[static_cast<std::size_t>(b)] : most;
      TORCH_CHECK(length >= 0 && length <= most, "npu::", name, ": ", role, " has ", length, " where ", most,
                  " rows are left");
      found.push_back(is_packed ? rows.slice(0, begin, begin + length).transpose(0, 1)
                                : rows.select(0, b).slice(1, 0, length));
      begin += length;
    }
    return found;
  }

  // The result and the logarithms of sums, in the layout of the query.
  std::pair<Tensor, Tensor> run(const Tensor& q, const Tensor& k, const Tensor& v) const {
    const bool is_packed = query_layout == "TND";
    const std::vector<Tensor> queries = split(name, "actual_seq_lengths", q, is_packed, query_lengths);
    const std::vector<Tensor> keys = split(name, "actual_seq_lengths_kv", k, is_packed, key_lengths);
    const std::vector<Tensor> values = split(name, "actual_seq_lengths_kv", v, is_packed, key_lengths);
    TORCH_CHECK(queries.size() == keys.size() && static_cast<int64_t>(queries.size()) == mask.size(0), "npu::", name,
                ": there are ", queries.size(), " sequences of queries, ", keys.size(), " of keys and ", mask.size(0),
                " masks");
    std::vector<Tensor> outs, sums;
    for (std::size_t b = 0; b < queries.size(); ++b) {
      const int64_t rows = queries[b].size(1), columns = keys[b].size(1), heads = queries[b].size(0);
      TORCH_CHECK(mask.size(2) * block[0] >= rows && mask.size(3) * block[1] >= columns, "npu::", name,
                  ": block_sparse_mask is of size ", mask.sizes(), " for ", rows, " queries and ", columns,
                  " keys in blocks of ", block);
      const auto spread = [&](const Tensor& heads_of) { return heads_of.repeat_interleave(heads / key_heads, 0); };
      const Tensor own = mask.select(0, static_cast<int64_t>(b)) != 0;
      const Tensor keys_seen = own.repeat_interleave(block[1], 2).slice(2, 0, columns);
      const Tensor all_keys = spread(keys[b]), all_values = spread(values[b]);
      const int64_t step = std::max<int64_t>(1, kScoresAtOnce / std::max<int64_t>(1, heads * columns));
      std::vector<Tensor> parts, part_sums;
      for (int64_t from = 0; from < rows; from += step) {
        const int64_t to = std::min(rows, from + step);
        const Tensor blocks = at::div(at::arange(from, to, own.options().dtype(at::kLong)), block[0], "floor");
        const Tensor is_seen = keys_seen.index_select(1, blocks);
        const Tensor scores = (at::matmul(queries[b].slice(1, from, to), all_keys.transpose(1, 2)) * scale)
                                  .masked_fill(at::logical_not(is_seen), kUnseen);
        const Tensor most = scores.amax({-1}, true);
        const Tensor largest = at::where(most.isneginf(), 0, most).detach();
        const Tensor exponents = (scores - largest).exp(), sum_of_them = exponents.sum(-1, true);
        parts.push_back(at::matmul(exponents / at::where(sum_of_them > 0, sum_of_them, 1), all_values));
        const Tensor sum = (sum_of_them.log() + largest).detach().squeeze(-1);
        part_sums.push_back(sum);
      }
      Tensor out = parts.empty() ? at::zeros_like(queries[b]) : at::cat(parts, 1);
      Tensor sum = part_sums.empty() ? at::zeros({heads, 0}, q.options()) : at::cat(part_sums, 1);
      if (is_packed) {
        outs.push_back(out.transpose(0, 1));
        sums.push_back(sum.t());
      } else {
        const int64_t rest = q.size(2) - rows;
        outs.push_back(at::constant_pad_nd(out, {0, 0, 0, rest}, 0));
        sums.push_back(at::constant_pad_nd(sum, {0, rest}, 0));
      }
    }
    if (!is_packed) return {at::stack(outs), at::stack(sums).unsqueeze(-1)};
    Tensor out = at::cat(outs), sum = at::cat(sums);
    const int64_t rest = q.size(0) - out.size(0);
    return {at::constant_pad_nd(out, {0, 0, 0, 0, 0, rest}, 0),
            at::constant_pad_nd(sum, {0, 0, 0, rest}, 0).unsqueeze(-1)};
  }
};

}  // namespace

std::tuple<Tensor, Tensor> npu_block_sparse_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                                      const Tensor& block_sparse_mask, at::IntArrayRef block_shape,
                                                      std::string_view q_input_layout, std::string_view kv_input_layout,
                                                      int64_t num_key_value_heads, double scale_value,
                                                      int64_t /*inner_precise*/,
                                                      at::OptionalIntArrayRef actual_seq_lengths,
                                                      at::OptionalIntArrayRef actual_seq_lengths_kv,
                                                      std::optional<int64_t> softmax_lse_flag) {
  const BlockSparse a{"npu_block_sparse_attention",
                      query,
                      key,
                      value,
                      block_sparse_mask,
                      block_shape,
                      q_input_layout,
                      kv_input_layout,
                      num_key_value_heads,
                      scale_value,
                      actual_seq_lengths,
                      actual_seq_lengths_kv};
  a.check();
  const bool gives_sums = softmax_lse_flag.value_or(0) == 1;
  const auto type = query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  if (query.is_meta()) {
    std::vector<c10::SymInt> rows = query.sym_sizes().vec();
    rows.back() = 1;
    if (!gives_sums) rows = {0};
    return {at::empty_symint(query.sym_sizes(), query.options()), at::empty_symint(rows, query.options().dtype(type))};
  }
  const auto [out, sums] = a.run(in_compute_type(query), in_compute_type(key), in_compute_type(value));
  return {out.to(query.scalar_type()).contiguous(),
          gives_sums ? sums.contiguous() : at::empty({0}, query.options().dtype(type))};
}

std::tuple<Tensor, Tensor, Tensor> npu_block_sparse_attention_backward(
    const Tensor& d_out, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attention_out,
    const Tensor& softmax_lse, const Tensor& block_sparse_mask, at::OptionalIntArrayRef block_shape,
    at::OptionalIntArrayRef actual_seq_lengths, at::OptionalIntArrayRef actual_seq_lengths_kv,
    std::string_view q_input_layout, std::string_view kv_input_layout, int64_t num_key_value_heads,
    double scale_value) {
  constexpr const char* kName = "npu_block_sparse_attention_backward";
  const BlockSparse a{kName,
                      query,
                      key,
                      value,
                      block_sparse_mask,
                      block_shape.has_value() ? *block_shape : at::IntArrayRef(),
                      q_input_layout,
                      kv_input_layout,
                      num_key_value_heads,
                      scale_value,
                      actual_seq_lengths,
                      actual_seq_lengths_kv};
  a.check();
  Operands(kName)
      .take("query", query, kBlockTypes)
      .take("d_out", d_out, kBlockTypes)
      .take("attention_out", attention_out, kBlockTypes)
      .take("softmax_lse", softmax_lse, kBlockTypes);
  TORCH_CHECK(d_out.sym_sizes() == query.sym_sizes(), "npu::", kName, ": d_out is of size ", d_out.sym_sizes(),
              " for a query of size ", query.sym_sizes());
  if (query.is_meta()) {
    const auto empty_as = [](const Tensor& t) { return at::empty_symint(t.sym_sizes(), t.options()); };
    return {empty_as(query), empty_as(key), empty_as(value)};
  }
  const auto function = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{a.run(inputs[0], inputs[1], inputs[2]).first};
  };
  const std::vector<Tensor> found = gradients_of(
      function, {in_compute_type(query), in_compute_type(key), in_compute_type(value)}, {in_compute_type(d_out)});
  const auto type = query.scalar_type();
  return {found[0].to(type), found[1].to(type), found[2].to(type)};
}

}  // namespace torch_npu::custom
