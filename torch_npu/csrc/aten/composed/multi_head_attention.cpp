// Attention of several heads with its projections.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <cmath>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr aclnn_check::Dtypes kProjected = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});

struct Weights {
  const Tensor &query, &key, &value, &output;
  const OptionalTensor &query_bias, &key_bias, &value_bias, &output_bias;
};

struct Heads {
  const char* name;
  int64_t count, width, sources, targets;
  double dropout;

  int64_t columns() const { return count * width; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(width)); }

  void check(const Tensor& query, const Tensor& key, const Tensor& value) const {
    TORCH_CHECK(count > 0 && width > 0 && sources > 0 && targets > 0 && dropout >= 0 && dropout < 1, name,
                ": attn_head_num is ", count, ", attn_dim_per_head ", width, ", src_len ", sources, ", tgt_len ",
                targets, ", dropout_prob ", dropout, ": positive numbers and a probability below 1 are taken");
    const c10::SymInt batch = query.sym_size(0) / targets;
    const auto fits = [&](const Tensor& rows, int64_t length) {
      return rows.dim() == 2 && rows.sym_size(0) == batch * length && rows.sym_size(1) == columns();
    };
    TORCH_CHECK(fits(query, targets) && fits(key, sources) && fits(value, sources), name, ": query is of size ",
                query.sym_sizes(), ", key of size ", key.sym_sizes(), ", value of size ", value.sym_sizes(),
                ": rows of ", columns(), " numbers, tgt_len and twice src_len for each of the batch, are taken");
  }

  // The tensors of both directions, and the type that the others have.
  aclnn_check::Dtypes take(Operands* operands, const Tensor& query, const Tensor& key, const Tensor& value,
                           const Weights& weights) const {
    const auto same = aclnn_check::dtype_bit(query.scalar_type());
    operands->take("query", query, kProjected).take("key", key, same).take("value", value, same);
    operands->take("query_weight", weights.query, same)
        .take("key_weight", weights.key, same)
        .take("value_weight", weights.value, same)
        .take("out_proj_weight", weights.output, same)
        .take("query_bias", weights.query_bias, same)
        .take("key_bias", weights.key_bias, same)
        .take("value_bias", weights.value_bias, same)
        .take("out_proj_bias", weights.output_bias, same);
    return same;
  }

  // [B, N, length, width] of rows, and back.
  Tensor split(const Tensor& rows, int64_t length) const {
    return rows.reshape({-1, length, count, width}).transpose(1, 2).contiguous();
  }
  Tensor merged(const Tensor& heads) const { return heads.transpose(1, 2).reshape({-1, columns()}); }
};

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> npu_multi_head_attention(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& query_weight, const Tensor& key_weight,
    const Tensor& value_weight, const Tensor& attn_mask, const Tensor& out_proj_weight,
    const OptionalTensor& query_bias, const OptionalTensor& key_bias, const OptionalTensor& value_bias,
    const OptionalTensor& out_proj_bias, const OptionalTensor& dropout_mask, int64_t attn_head_num,
    int64_t attn_dim_per_head, int64_t src_len, int64_t tgt_len, double dropout_prob, bool softmax_use_float) {
  const Heads heads{"npu_multi_head_attention", attn_head_num, attn_dim_per_head, src_len, tgt_len, dropout_prob};
  Operands operands(heads.name);
  const auto same = heads.take(
      &operands, query, key, value,
      {query_weight, key_weight, value_weight, out_proj_weight, query_bias, key_bias, value_bias, out_proj_bias});
  operands.take("attn_mask", attn_mask, same).take("dropout_mask", dropout_mask);
  heads.check(query, key, value);
  const auto type = query.scalar_type();
  const auto score_type = softmax_use_float && type != at::kDouble ? at::kFloat : type;
  const auto of_type = [&](const Tensor& tensor, at::ScalarType wanted) { return tensor.to(wanted).contiguous(); };
  if (query.is_meta()) {
    const c10::SymInt batch = query.sym_size(0) / tgt_len;
    const auto created = [&](c10::SymIntArrayRef sizes, at::ScalarType wanted) {
      return at::empty_symint(sizes, query.options().dtype(wanted));
    };
    const c10::SymInt scores = batch * (attn_head_num * tgt_len * src_len);
    const Tensor q = created({batch, attn_head_num, tgt_len, attn_dim_per_head}, type);
    const Tensor k = created({batch, attn_head_num, src_len, attn_dim_per_head}, type);
    return {created(query.sym_sizes(), type),
            created({(scores + 127) / 128 * 16}, at::kByte),
            q,
            k,
            at::empty_like(k),
            created({batch, attn_head_num, tgt_len, src_len}, score_type),
            created({batch, attn_head_num, tgt_len, src_len}, type),
            created(query.sym_sizes(), type)};
  }
  const auto widened = [](const Tensor& t) { return in_compute_type(t); };
  const auto project = [&](const Tensor& rows, const Tensor& weight, const OptionalTensor& bias) {
    const Tensor y = at::mm(widened(rows), widened(weight).t());
    return bias.has_value() && bias->defined() ? y + widened(*bias) : y;
  };
  const Tensor q = heads.split(project(query, query_weight, query_bias) * heads.scale(), tgt_len);
  const Tensor k = heads.split(project(key, key_weight, key_bias), src_len);
  const Tensor v = heads.split(project(value, value_weight, value_bias), src_len);
  const Tensor scores = (at::matmul(q, k.transpose(2, 3)) + widened(attn_mask)).softmax(-1);
  // A probability of zero keeps all: every bit is one.
  constexpr int64_t kBits = 128, kBytes = 16, kAll = 255;
  Tensor weights = scores.clone();
  Tensor mask = at::full({(scores.numel() + kBits - 1) / kBits * kBytes}, kAll, query.options().dtype(at::kByte));
  if (dropout_prob > 0) std::tie(weights, mask) = _npu_dropout(scores, dropout_prob);
  const Tensor context = heads.merged(at::matmul(weights, v));
  const Tensor y = project(context, out_proj_weight, out_proj_bias);
  return {of_type(y, type),       mask,
          of_type(q, type),       of_type(k, type),
          of_type(v, type),       of_type(scores, score_type),
          of_type(weights, type), of_type(context, type)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>
npu_multi_head_attention_backward(const Tensor& query, const Tensor& key, const Tensor& value,
                                  const Tensor& query_weight, const Tensor& key_weight, const Tensor& value_weight,
                                  const Tensor& out_proj_weight, const OptionalTensor& query_bias,
                                  const OptionalTensor& key_bias, const OptionalTensor& value_bias,
                                  const OptionalTensor& out_proj_bias, const Tensor& query_res, const Tensor& key_res,
                                  const Tensor& value_res, const Tensor& attn_scores, const Tensor& attn_res,
                                  const Tensor& context, const Tensor& y_grad, const Tensor& dropout_mask,
                                  int64_t attn_head_num, int64_t attn_dim_per_head, int64_t src_len, int64_t tgt_len,
                                  double dropout_prob, bool /*softmax_use_float*/) {
  const Heads heads{
      "npu_multi_head_attention_backward", attn_head_num, attn_dim_per_head, src_len, tgt_len, dropout_prob};
  Operands operands(heads.name);
  const auto same = heads.take(
      &operands, query, key, value,
      {query_weight, key_weight, value_weight, out_proj_weight, query_bias, key_bias, value_bias, out_proj_bias});
  operands.take("query_res", query_res, same)
      .take("key_res", key_res, same)
      .take("value_res", value_res, same)
      .take("attn_scores", attn_scores, same | dtypes({at::kFloat}))
      .take("attn_res", attn_res, same)
      .take("context", context, same)
      .take("y_grad", y_grad, same)
      .take("dropout_mask", dropout_mask, dtypes({at::kByte}));
  heads.check(query, key, value);
  const c10::SymInt columns = heads.columns();
  const auto empty_as = [](const Tensor& t) { return at::empty_symint(t.sym_sizes(), t.options()); };
  if (query.is_meta()) {
    const auto row = [&] { return at::empty_symint({columns}, query.options()); };
    return {empty_as(query_weight),
            empty_as(key_weight),
            empty_as(value_weight),
            empty_as(out_proj_weight),
            empty_as(query),
            empty_as(key),
            empty_as(value),
            row(),
            row(),
            row(),
            row()};
  }
  const auto widened = [](const Tensor& t) { return in_compute_type(t).contiguous(); };
  const Tensor grad = widened(y_grad), of_context = heads.split(at::mm(grad, widened(out_proj_weight)), tgt_len);
  Tensor of_weights = at::matmul(of_context, widened(value_res).transpose(2, 3));
  if (dropout_prob > 0) of_weights = widened(npu_dropout_backward(of_weights, dropout_mask, dropout_prob));
  const Tensor scores = widened(attn_scores);
  const Tensor of_scores = scores * (of_weights - (of_weights * scores).sum(-1, true));
  const Tensor dq = heads.merged(at::matmul(of_scores, widened(key_res))) * heads.scale();
  const Tensor dk = heads.merged(at::matmul(of_scores.transpose(2, 3), widened(query_res)));
  const Tensor dv = heads.merged(at::matmul(widened(attn_res).transpose(2, 3), of_context));
  const auto given = [&](const Tensor& t) { return t.to(query.scalar_type()).contiguous(); };
  const auto of_rows = [&](const Tensor& d, const Tensor& weight) { return given(at::mm(d, widened(weight))); };
  const auto of_weight = [&](const Tensor& d, const Tensor& rows) { return given(at::mm(d.t(), widened(rows))); };
  return {of_weight(dq, query),      of_weight(dk, key),      of_weight(dv, value),      of_weight(grad, context),
          of_rows(dq, query_weight), of_rows(dk, key_weight), of_rows(dv, value_weight), given(dq.sum(0)),
          given(dk.sum(0)),          given(dv.sum(0)),        given(grad.sum(0))};
}

}  // namespace torch_npu::custom
