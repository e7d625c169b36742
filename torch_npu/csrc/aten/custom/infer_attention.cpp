// Attention without gradients: prompts, single queries, paged keys. One kernel serves all; quantized forms are refused.

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <utility>

#include "aten/custom/dtype_number.h"
#include "aten/custom/infer_call.h"
#include "aten/custom/shapes.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using Results = std::tuple<Tensor, Tensor>;

at::IntArrayRef numbers(at::OptionalSymIntArrayRef given) {
  return given.has_value() ? C10_AS_INTARRAYREF_SLOW(*given) : at::IntArrayRef();
}

void refuse(const char* name, std::initializer_list<std::pair<const char*, const OptionalTensor*>> tensors) {
  for (const auto& [role, tensor] : tensors) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !tensor->has_value() || !(*tensor)->defined(), name, ": ", role,
        " is given: None is taken, quantized forms, paddings and shared prefixes are not computed");
  }
}

void check_types(const char* name, const Tensor& query,
                 std::initializer_list<std::pair<const char*, std::optional<int64_t>>> numbers) {
  for (const auto& [role, number] : numbers) {
    if (!number.has_value()) continue;
    TORCH_CHECK_NOT_IMPLEMENTED(dtype_of_number(role, *number) == query.scalar_type(), name, ": ", role, " is ",
                                *number, " for tensors of ", query.scalar_type(), ": None or their type is taken");
  }
}

// The tensors and numbers that both forms of the operator have under one name.
InferCall call_of(const char* name, const Tensor& query, const Tensor& key, const Tensor& value,
                  const OptionalTensor& pse_shift, const OptionalTensor& atten_mask, const OptionalTensor& block_table,
                  const OptionalTensor& query_rope, const OptionalTensor& key_rope, int64_t num_key_value_heads,
                  int64_t pre_tokens, int64_t next_tokens, std::string_view input_layout, int64_t sparse_mode,
                  int64_t block_size) {
  InferCall call{name, query, key, value};
  call.bias = pse_shift;
  call.mask = atten_mask;
  call.table = block_table;
  call.query_rope = query_rope;
  call.key_rope = key_rope;
  call.key_heads = num_key_value_heads;
  call.before = pre_tokens;
  call.after = next_tokens;
  call.layout = input_layout;
  call.sparse_mode = sparse_mode;
  call.page = block_size;
  return call;
}

InferCall score_call(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& pse_shift,
                     const OptionalTensor& atten_mask, at::OptionalSymIntArrayRef actual_seq_lengths,
                     at::OptionalSymIntArrayRef actual_seq_lengths_kv, const OptionalTensor& dequant_scale1,
                     const OptionalTensor& quant_scale1, const OptionalTensor& dequant_scale2,
                     const OptionalTensor& quant_scale2, const OptionalTensor& quant_offset2,
                     const OptionalTensor& antiquant_scale, const OptionalTensor& antiquant_offset,
                     const OptionalTensor& key_antiquant_scale, const OptionalTensor& key_antiquant_offset,
                     const OptionalTensor& value_antiquant_scale, const OptionalTensor& value_antiquant_offset,
                     const OptionalTensor& block_table, const OptionalTensor& query_padding_size,
                     const OptionalTensor& kv_padding_size, const OptionalTensor& key_shared_prefix,
                     const OptionalTensor& value_shared_prefix, at::OptionalSymIntArrayRef /*actual_shared_prefix_len*/,
                     const OptionalTensor& query_rope, const OptionalTensor& key_rope,
                     const OptionalTensor& key_rope_antiquant_scale, int64_t num_heads, double scale,
                     int64_t pre_tokens, int64_t next_tokens, std::string_view input_layout,
                     int64_t num_key_value_heads, int64_t sparse_mode, int64_t /*inner_precise*/, int64_t block_size,
                     int64_t /*antiquant_mode*/, int64_t /*key_antiquant_mode*/, int64_t /*value_antiquant_mode*/,
                     bool softmax_lse_flag) {
  refuse("npu_fused_infer_attention_score", {{"dequant_scale1", &dequant_scale1},
                                             {"quant_scale1", &quant_scale1},
                                             {"dequant_scale2", &dequant_scale2},
                                             {"quant_scale2", &quant_scale2},
                                             {"quant_offset2", &quant_offset2},
                                             {"antiquant_scale", &antiquant_scale},
                                             {"antiquant_offset", &antiquant_offset},
                                             {"key_antiquant_scale", &key_antiquant_scale},
                                             {"key_antiquant_offset", &key_antiquant_offset},
                                             {"value_antiquant_scale", &value_antiquant_scale},
                                             {"value_antiquant_offset", &value_antiquant_offset},
                                             {"query_padding_size", &query_padding_size},
                                             {"kv_padding_size", &kv_padding_size},
                                             {"key_shared_prefix", &key_shared_prefix},
                                             {"value_shared_prefix", &value_shared_prefix},
                                             {"key_rope_antiquant_scale", &key_rope_antiquant_scale}});
  InferCall call =
      call_of("npu_fused_infer_attention_score", query, key, value, pse_shift, atten_mask, block_table, query_rope,
              key_rope, num_key_value_heads, pre_tokens, next_tokens, input_layout, sparse_mode, block_size);
  call.query_lengths = numbers(actual_seq_lengths);
  call.key_lengths = numbers(actual_seq_lengths_kv);
  call.heads = num_heads;
  call.scale = scale;
  call.gives_log_sum = softmax_lse_flag;
  return call;
}

InferCall score_v2_call(
    const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& query_rope,
    const OptionalTensor& key_rope, const OptionalTensor& pse_shift, const OptionalTensor& atten_mask,
    at::OptionalSymIntArrayRef actual_seq_qlen, at::OptionalSymIntArrayRef actual_seq_kvlen,
    const OptionalTensor& block_table, const OptionalTensor& dequant_scale_query,
    const OptionalTensor& dequant_scale_key, const OptionalTensor& dequant_offset_key,
    const OptionalTensor& dequant_scale_value, const OptionalTensor& dequant_offset_value,
    const OptionalTensor& dequant_scale_key_rope, const OptionalTensor& quant_scale_out,
    const OptionalTensor& quant_offset_out, const OptionalTensor& quant_scale_p, const OptionalTensor& learnable_sink,
    int64_t num_query_heads, int64_t num_key_value_heads, double softmax_scale, int64_t pre_tokens, int64_t next_tokens,
    std::string_view input_layout, int64_t sparse_mode, int64_t block_size, int64_t /*query_quant_mode*/,
    int64_t /*key_quant_mode*/, int64_t /*value_quant_mode*/, int64_t /*inner_precise*/, bool return_softmax_lse,
    std::optional<int64_t> query_dtype, std::optional<int64_t> key_dtype, std::optional<int64_t> value_dtype,
    std::optional<int64_t> query_rope_dtype, std::optional<int64_t> key_rope_dtype,
    std::optional<int64_t> /*key_shared_prefix_dtype*/, std::optional<int64_t> /*value_shared_prefix_dtype*/,
    std::optional<int64_t> /*dequant_scale_query_dtype*/, std::optional<int64_t> /*dequant_scale_key_dtype*/,
    std::optional<int64_t> /*dequant_scale_value_dtype*/, std::optional<int64_t> /*dequant_scale_key_rope_dtype*/,
    std::optional<int64_t> out_dtype) {
  refuse("npu_fused_infer_attention_score_v2", {{"dequant_scale_query", &dequant_scale_query},
                                                {"dequant_scale_key", &dequant_scale_key},
                                                {"dequant_offset_key", &dequant_offset_key},
                                                {"dequant_scale_value", &dequant_scale_value},
                                                {"dequant_offset_value", &dequant_offset_value},
                                                {"dequant_scale_key_rope", &dequant_scale_key_rope},
                                                {"quant_scale_out", &quant_scale_out},
                                                {"quant_offset_out", &quant_offset_out},
                                                {"quant_scale_p", &quant_scale_p}});
  check_types("npu_fused_infer_attention_score_v2", query,
              {{"query_dtype", query_dtype},
               {"key_dtype", key_dtype},
               {"value_dtype", value_dtype},
               {"query_rope_dtype", query_rope_dtype},
               {"key_rope_dtype", key_rope_dtype},
               {"out_dtype", out_dtype}});
  InferCall call =
      call_of("npu_fused_infer_attention_score_v2", query, key, value, pse_shift, atten_mask, block_table, query_rope,
              key_rope, num_key_value_heads, pre_tokens, next_tokens, input_layout, sparse_mode, block_size);
  call.sink = learnable_sink;
  call.query_lengths = numbers(actual_seq_qlen);
  call.key_lengths = numbers(actual_seq_kvlen);
  call.heads = num_query_heads;
  call.scale = softmax_scale;
  call.gives_log_sum = return_softmax_lse;
  return call;
}

}  // namespace

Results npu_fused_infer_attention_score(
    const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& pse_shift,
    const OptionalTensor& atten_mask, at::OptionalSymIntArrayRef actual_seq_lengths,
    at::OptionalSymIntArrayRef actual_seq_lengths_kv, const OptionalTensor& dequant_scale1,
    const OptionalTensor& quant_scale1, const OptionalTensor& dequant_scale2, const OptionalTensor& quant_scale2,
    const OptionalTensor& quant_offset2, const OptionalTensor& antiquant_scale, const OptionalTensor& antiquant_offset,
    const OptionalTensor& key_antiquant_scale, const OptionalTensor& key_antiquant_offset,
    const OptionalTensor& value_antiquant_scale, const OptionalTensor& value_antiquant_offset,
    const OptionalTensor& block_table, const OptionalTensor& query_padding_size, const OptionalTensor& kv_padding_size,
    const OptionalTensor& key_shared_prefix, const OptionalTensor& value_shared_prefix,
    at::OptionalSymIntArrayRef actual_shared_prefix_len, const OptionalTensor& query_rope,
    const OptionalTensor& key_rope, const OptionalTensor& key_rope_antiquant_scale, int64_t num_heads, double scale,
    int64_t pre_tokens, int64_t next_tokens, std::string_view input_layout, int64_t num_key_value_heads,
    int64_t sparse_mode, int64_t inner_precise, int64_t block_size, int64_t antiquant_mode, int64_t key_antiquant_mode,
    int64_t value_antiquant_mode, bool softmax_lse_flag) {
  return infer(score_call(query, key, value, pse_shift, atten_mask, actual_seq_lengths, actual_seq_lengths_kv,
                          dequant_scale1, quant_scale1, dequant_scale2, quant_scale2, quant_offset2, antiquant_scale,
                          antiquant_offset, key_antiquant_scale, key_antiquant_offset, value_antiquant_scale,
                          value_antiquant_offset, block_table, query_padding_size, kv_padding_size, key_shared_prefix,
                          value_shared_prefix, actual_shared_prefix_len, query_rope, key_rope, key_rope_antiquant_scale,
                          num_heads, scale, pre_tokens, next_tokens, input_layout, num_key_value_heads, sparse_mode,
                          inner_precise, block_size, antiquant_mode, key_antiquant_mode, value_antiquant_mode,
                          softmax_lse_flag));
}

Results npu_fused_infer_attention_score(
    const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& pse_shift,
    const OptionalTensor& atten_mask, at::OptionalSymIntArrayRef actual_seq_lengths,
    at::OptionalSymIntArrayRef actual_seq_lengths_kv, const OptionalTensor& dequant_scale1,
    const OptionalTensor& quant_scale1, const OptionalTensor& dequant_scale2, const OptionalTensor& quant_scale2,
    const OptionalTensor& quant_offset2, const OptionalTensor& antiquant_scale, const OptionalTensor& antiquant_offset,
    const OptionalTensor& key_antiquant_scale, const OptionalTensor& key_antiquant_offset,
    const OptionalTensor& value_antiquant_scale, const OptionalTensor& value_antiquant_offset,
    const OptionalTensor& block_table, const OptionalTensor& query_padding_size, const OptionalTensor& kv_padding_size,
    const OptionalTensor& key_shared_prefix, const OptionalTensor& value_shared_prefix,
    at::OptionalSymIntArrayRef actual_shared_prefix_len, const OptionalTensor& query_rope,
    const OptionalTensor& key_rope, const OptionalTensor& key_rope_antiquant_scale, int64_t num_heads, double scale,
    int64_t pre_tokens, int64_t next_tokens, std::string_view input_layout, int64_t num_key_value_heads,
    int64_t sparse_mode, int64_t inner_precise, int64_t block_size, int64_t antiquant_mode, int64_t key_antiquant_mode,
    int64_t value_antiquant_mode, bool softmax_lse_flag, const OptionalTensor& /*workspace*/, at::TensorList out) {
  return infer_into(
      score_call(query, key, value, pse_shift, atten_mask, actual_seq_lengths, actual_seq_lengths_kv, dequant_scale1,
                 quant_scale1, dequant_scale2, quant_scale2, quant_offset2, antiquant_scale, antiquant_offset,
                 key_antiquant_scale, key_antiquant_offset, value_antiquant_scale, value_antiquant_offset, block_table,
                 query_padding_size, kv_padding_size, key_shared_prefix, value_shared_prefix, actual_shared_prefix_len,
                 query_rope, key_rope, key_rope_antiquant_scale, num_heads, scale, pre_tokens, next_tokens,
                 input_layout, num_key_value_heads, sparse_mode, inner_precise, block_size, antiquant_mode,
                 key_antiquant_mode, value_antiquant_mode, softmax_lse_flag),
      out);
}

Tensor _npu_fused_infer_attention_score_get_max_workspace(
    const Tensor& query, const Tensor& /*key*/, const Tensor& /*value*/, const OptionalTensor& /*pse_shift*/,
    const OptionalTensor& /*atten_mask*/, at::OptionalSymIntArrayRef /*actual_seq_lengths*/,
    at::OptionalSymIntArrayRef /*actual_seq_lengths_kv*/, const OptionalTensor& /*dequant_scale1*/,
    const OptionalTensor& /*quant_scale1*/, const OptionalTensor& /*dequant_scale2*/,
    const OptionalTensor& /*quant_scale2*/, const OptionalTensor& /*quant_offset2*/,
    const OptionalTensor& /*antiquant_scale*/, const OptionalTensor& /*antiquant_offset*/,
    const OptionalTensor& /*key_antiquant_scale*/, const OptionalTensor& /*key_antiquant_offset*/,
    const OptionalTensor& /*value_antiquant_scale*/, const OptionalTensor& /*value_antiquant_offset*/,
    const OptionalTensor& /*block_table*/, const OptionalTensor& /*query_padding_size*/,
    const OptionalTensor& /*kv_padding_size*/, const OptionalTensor& /*key_shared_prefix*/,
    const OptionalTensor& /*value_shared_prefix*/, at::OptionalSymIntArrayRef /*actual_shared_prefix_len*/,
    const OptionalTensor& /*query_rope*/, const OptionalTensor& /*key_rope*/,
    const OptionalTensor& /*key_rope_antiquant_scale*/, int64_t /*num_heads*/, double /*scale*/, int64_t /*pre_tokens*/,
    int64_t /*next_tokens*/, std::string_view /*input_layout*/, int64_t /*num_key_value_heads*/,
    int64_t /*sparse_mode*/, int64_t /*inner_precise*/, int64_t /*block_size*/, int64_t /*antiquant_mode*/,
    int64_t /*key_antiquant_mode*/, int64_t /*value_antiquant_mode*/, bool /*softmax_lse_flag*/) {
  return shapes::no_workspace(query).make();
}

Results _npu_fused_infer_attention_score_infer_output(const Tensor& query, const Tensor& value,
                                                      std::string_view input_layout,
                                                      const OptionalTensor& /*quant_scale2*/,
                                                      const OptionalTensor& block_table, int64_t num_heads,
                                                      int64_t num_key_value_heads, bool softmax_lse_flag,
                                                      const OptionalTensor& /*query_rope*/) {
  return {shapes::infer_attention(query, value, input_layout, block_table, num_heads, num_key_value_heads).make(),
          shapes::infer_lse(query, input_layout, num_heads, softmax_lse_flag).make()};
}

Results npu_fused_infer_attention_score_v2(
    const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& query_rope,
    const OptionalTensor& key_rope, const OptionalTensor& pse_shift, const OptionalTensor& atten_mask,
    at::OptionalSymIntArrayRef actual_seq_qlen, at::OptionalSymIntArrayRef actual_seq_kvlen,
    const OptionalTensor& block_table, const OptionalTensor& dequant_scale_query,
    const OptionalTensor& dequant_scale_key, const OptionalTensor& dequant_offset_key,
    const OptionalTensor& dequant_scale_value, const OptionalTensor& dequant_offset_value,
    const OptionalTensor& dequant_scale_key_rope, const OptionalTensor& quant_scale_out,
    const OptionalTensor& quant_offset_out, const OptionalTensor& quant_scale_p, const OptionalTensor& learnable_sink,
    int64_t num_query_heads, int64_t num_key_value_heads, double softmax_scale, int64_t pre_tokens, int64_t next_tokens,
    std::string_view input_layout, int64_t sparse_mode, int64_t block_size, int64_t query_quant_mode,
    int64_t key_quant_mode, int64_t value_quant_mode, int64_t inner_precise, bool return_softmax_lse,
    std::optional<int64_t> query_dtype, std::optional<int64_t> key_dtype, std::optional<int64_t> value_dtype,
    std::optional<int64_t> query_rope_dtype, std::optional<int64_t> key_rope_dtype,
    std::optional<int64_t> key_shared_prefix_dtype, std::optional<int64_t> value_shared_prefix_dtype,
    std::optional<int64_t> dequant_scale_query_dtype, std::optional<int64_t> dequant_scale_key_dtype,
    std::optional<int64_t> dequant_scale_value_dtype, std::optional<int64_t> dequant_scale_key_rope_dtype,
    std::optional<int64_t> out_dtype) {
  return infer(
      score_v2_call(query, key, value, query_rope, key_rope, pse_shift, atten_mask, actual_seq_qlen, actual_seq_kvlen,
                    block_table, dequant_scale_query, dequant_scale_key, dequant_offset_key, dequant_scale_value,
                    dequant_offset_value, dequant_scale_key_rope, quant_scale_out, quant_offset_out, quant_scale_p,
                    learnable_sink, num_query_heads, num_key_value_heads, softmax_scale, pre_tokens, next_tokens,
                    input_layout, sparse_mode, block_size, query_quant_mode, key_quant_mode, value_quant_mode,
                    inner_precise, return_softmax_lse, query_dtype, key_dtype, value_dtype, query_rope_dtype,
                    key_rope_dtype, key_shared_prefix_dtype, value_shared_prefix_dtype, dequant_scale_query_dtype,
                    dequant_scale_key_dtype, dequant_scale_value_dtype, dequant_scale_key_rope_dtype, out_dtype));
}

Results npu_fused_infer_attention_score_v2(
    const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& query_rope,
    const OptionalTensor& key_rope, const OptionalTensor& pse_shift, const OptionalTensor& atten_mask,
    at::OptionalSymIntArrayRef actual_seq_qlen, at::OptionalSymIntArrayRef actual_seq_kvlen,
    const OptionalTensor& block_table, const OptionalTensor& dequant_scale_query,
    const OptionalTensor& dequant_scale_key, const OptionalTensor& dequant_offset_key,
    const OptionalTensor& dequant_scale_value, const OptionalTensor& dequant_offset_value,
    const OptionalTensor& dequant_scale_key_rope, const OptionalTensor& quant_scale_out,
    const OptionalTensor& quant_offset_out, const OptionalTensor& quant_scale_p, const OptionalTensor& learnable_sink,
    int64_t num_query_heads, int64_t num_key_value_heads, double softmax_scale, int64_t pre_tokens, int64_t next_tokens,
    std::string_view input_layout, int64_t sparse_mode, int64_t block_size, int64_t query_quant_mode,
    int64_t key_quant_mode, int64_t value_quant_mode, int64_t inner_precise, bool return_softmax_lse,
    std::optional<int64_t> query_dtype, std::optional<int64_t> key_dtype, std::optional<int64_t> value_dtype,
    std::optional<int64_t> query_rope_dtype, std::optional<int64_t> key_rope_dtype,
    std::optional<int64_t> key_shared_prefix_dtype, std::optional<int64_t> value_shared_prefix_dtype,
    std::optional<int64_t> dequant_scale_query_dtype, std::optional<int64_t> dequant_scale_key_dtype,
    std::optional<int64_t> dequant_scale_value_dtype, std::optional<int64_t> dequant_scale_key_rope_dtype,
    std::optional<int64_t> out_dtype, const OptionalTensor& /*workspace*/, at::TensorList out) {
  return infer_into(
      score_v2_call(query, key, value, query_rope, key_rope, pse_shift, atten_mask, actual_seq_qlen, actual_seq_kvlen,
                    block_table, dequant_scale_query, dequant_scale_key, dequant_offset_key, dequant_scale_value,
                    dequant_offset_value, dequant_scale_key_rope, quant_scale_out, quant_offset_out, quant_scale_p,
                    learnable_sink, num_query_heads, num_key_value_heads, softmax_scale, pre_tokens, next_tokens,
                    input_layout, sparse_mode, block_size, query_quant_mode, key_quant_mode, value_quant_mode,
                    inner_precise, return_softmax_lse, query_dtype, key_dtype, value_dtype, query_rope_dtype,
                    key_rope_dtype, key_shared_prefix_dtype, value_shared_prefix_dtype, dequant_scale_query_dtype,
                    dequant_scale_key_dtype, dequant_scale_value_dtype, dequant_scale_key_rope_dtype, out_dtype),
      out);
}

Tensor _npu_fused_infer_attention_score_v2_get_max_workspace(
    const Tensor& query, const Tensor& /*key*/, const Tensor& /*value*/, const OptionalTensor& /*query_rope*/,
    const OptionalTensor& /*key_rope*/, const OptionalTensor& /*pse_shift*/, const OptionalTensor& /*atten_mask*/,
    at::OptionalSymIntArrayRef /*actual_seq_qlen*/, at::OptionalSymIntArrayRef /*actual_seq_kvlen*/,
    const OptionalTensor& /*block_table*/, const OptionalTensor& /*dequant_scale_query*/,
    const OptionalTensor& /*dequant_scale_key*/, const OptionalTensor& /*dequant_offset_key*/,
    const OptionalTensor& /*dequant_scale_value*/, const OptionalTensor& /*dequant_offset_value*/,
    const OptionalTensor& /*dequant_scale_key_rope*/, const OptionalTensor& /*quant_scale_out*/,
    const OptionalTensor& /*quant_offset_out*/, const OptionalTensor& /*quant_scale_p*/,
    const OptionalTensor& /*learnable_sink*/, int64_t /*num_query_heads*/, int64_t /*num_key_value_heads*/,
    double /*softmax_scale*/, int64_t /*pre_tokens*/, int64_t /*next_tokens*/, std::string_view /*input_layout*/,
    int64_t /*sparse_mode*/, int64_t /*block_size*/, int64_t /*query_quant_mode*/, int64_t /*key_quant_mode*/,
    int64_t /*value_quant_mode*/, int64_t /*inner_precise*/, bool /*return_softmax_lse*/,
    std::optional<int64_t> /*query_dtype*/, std::optional<int64_t> /*key_dtype*/,
    std::optional<int64_t> /*value_dtype*/, std::optional<int64_t> /*query_rope_dtype*/,
    std::optional<int64_t> /*key_rope_dtype*/, std::optional<int64_t> /*key_shared_prefix_dtype*/,
    std::optional<int64_t> /*value_shared_prefix_dtype*/, std::optional<int64_t> /*dequant_scale_query_dtype*/,
    std::optional<int64_t> /*dequant_scale_key_dtype*/, std::optional<int64_t> /*dequant_scale_value_dtype*/,
    std::optional<int64_t> /*dequant_scale_key_rope_dtype*/, std::optional<int64_t> /*out_dtype*/) {
  return shapes::no_workspace(query).make();
}

Results _npu_fused_infer_attention_score_v2_infer_output(
    const Tensor& query, const Tensor& value, std::optional<int64_t> /*query_dtype*/,
    std::optional<int64_t> /*value_dtype*/, std::string_view input_layout, const OptionalTensor& /*quant_scale_out*/,
    const OptionalTensor& block_table, int64_t num_query_heads, int64_t num_key_value_heads, bool return_softmax_lse,
    const OptionalTensor& /*query_rope*/, std::optional<int64_t> /*out_dtype*/) {
  return {shapes::infer_attention(query, value, input_layout, block_table, num_query_heads, num_key_value_heads).make(),
          shapes::infer_lse(query, input_layout, num_query_heads, return_softmax_lse).make()};
}

Tensor npu_prompt_flash_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                  const OptionalTensor& padding_mask, const OptionalTensor& atten_mask,
                                  const OptionalTensor& pse_shift, at::OptionalIntArrayRef actual_seq_lengths,
                                  const OptionalTensor& deq_scale1, const OptionalTensor& quant_scale1,
                                  const OptionalTensor& deq_scale2, const OptionalTensor& quant_scale2,
                                  const OptionalTensor& quant_offset2, int64_t num_heads, double scale_value,
                                  int64_t pre_tokens, int64_t next_tokens, std::string_view input_layout,
                                  int64_t num_key_value_heads, at::OptionalIntArrayRef actual_seq_lengths_kv,
                                  int64_t sparse_mode) {
  refuse("npu_prompt_flash_attention", {{"padding_mask", &padding_mask},
                                        {"deq_scale1", &deq_scale1},
                                        {"quant_scale1", &quant_scale1},
                                        {"deq_scale2", &deq_scale2},
                                        {"quant_scale2", &quant_scale2},
                                        {"quant_offset2", &quant_offset2}});
  return std::get<0>(infer(InferCall{.name = "npu_prompt_flash_attention",
                                     .query = query,
                                     .key = key,
                                     .value = value,
                                     .bias = pse_shift,
                                     .mask = atten_mask,
                                     .query_lengths = actual_seq_lengths.value_or(at::IntArrayRef()),
                                     .key_lengths = actual_seq_lengths_kv.value_or(at::IntArrayRef()),
                                     .heads = num_heads,
                                     .key_heads = num_key_value_heads,
                                     .scale = scale_value,
                                     .before = pre_tokens,
                                     .after = next_tokens,
                                     .layout = input_layout,
                                     .sparse_mode = sparse_mode}));
}

Tensor npu_incre_flash_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                 const OptionalTensor& padding_mask, const OptionalTensor& atten_mask,
                                 const OptionalTensor& pse_shift, at::OptionalSymIntArrayRef actual_seq_lengths,
                                 const OptionalTensor& antiquant_scale, const OptionalTensor& antiquant_offset,
                                 const OptionalTensor& block_table, const OptionalTensor& dequant_scale1,
                                 const OptionalTensor& quant_scale1, const OptionalTensor& dequant_scale2,
                                 const OptionalTensor& quant_scale2, const OptionalTensor& quant_offset2,
                                 const OptionalTensor& kv_padding_size, int64_t num_heads, double scale_value,
                                 std::string_view input_layout, int64_t num_key_value_heads, int64_t block_size,
                                 int64_t /*inner_precise*/) {
  refuse("npu_incre_flash_attention", {{"padding_mask", &padding_mask},
                                       {"antiquant_scale", &antiquant_scale},
                                       {"antiquant_offset", &antiquant_offset},
                                       {"dequant_scale1", &dequant_scale1},
                                       {"quant_scale1", &quant_scale1},
                                       {"dequant_scale2", &dequant_scale2},
                                       {"quant_scale2", &quant_scale2},
                                       {"quant_offset2", &quant_offset2},
                                       {"kv_padding_size", &kv_padding_size}});
  return std::get<0>(infer(InferCall{.name = "npu_incre_flash_attention",
                                     .query = query,
                                     .key = key,
                                     .value = value,
                                     .bias = pse_shift,
                                     .mask = atten_mask,
                                     .table = block_table,
                                     .key_lengths = numbers(actual_seq_lengths),
                                     .heads = num_heads,
                                     .key_heads = num_key_value_heads,
                                     .scale = scale_value,
                                     .layout = input_layout,
                                     .page = block_size}));
}

}  // namespace torch_npu::custom
