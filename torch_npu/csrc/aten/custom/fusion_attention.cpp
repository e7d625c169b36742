// Fused attention with its gradients. One stream orders a dropout mask before its use, so that gen_mask_parallel and
// sync change nothing; softnpu computes in float32 for every inner_precise.

#include <ATen/core/Tensor.h>
#include <aclnnop/aclnn_dropout_gen_mask_v2.h>
#include <aclnnop/aclnn_flash_attention_score.h>
#include <aclnnop/aclnn_flash_attention_score_grad.h>
#include <aclnnop/aclnn_flash_attention_score_grad_v3.h>
#include <aclnnop/aclnn_flash_attention_score_v3.h>
#include <aclnnop/aclnn_flash_attention_unpadding_score_grad.h>
#include <aclnnop/aclnn_flash_attention_unpadding_score_grad_v4.h>
#include <aclnnop/aclnn_flash_attention_unpadding_score_grad_v5.h>
#include <aclnnop/aclnn_flash_attention_var_len_score.h>
#include <aclnnop/aclnn_flash_attention_var_len_score_v4.h>
#include <aclnnop/aclnn_flash_attention_var_len_score_v5.h>

#include "aten/custom/attention_call.h"
#include "aten/custom/inputs.h"
#include "aten/custom/shapes.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "core/generator.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

enum : int64_t { kAddedBias = 0, kScaledBias = 1 };     // scale q k' + pse, scale (q k' + pse)
constexpr std::string_view kAsInput = "same_as_input";  // of the rows' numbers
constexpr at::IntArrayRef kNoStart;

// A function of aclnn with arrays of integers. Throws where the bound CANN does not have it.
template <typename FirstPhase>
class Function {
 public:
  explicit Function(const char* name) : name_(name), op_(name, AclObject::kIntArray) {}

  template <typename... Args>
  void operator()(c10::DeviceIndex device, const Args&... args) const {
    if (!op_.available()) Inputs("npu_fusion_attention", name_, false);
    op_(device, args...);
  }

 private:
  const char* name_;
  AclnnOp<FirstPhase> op_;
};

// A bit for each of `count` scores, padded to 16 bytes; null if there are none.
Tensor dropout_mask_of(const Tensor& like, int64_t count, double drop, int64_t seed, int64_t offset) {
  const Tensor mask = shapes::mask_bits(like, {count}).make();
  static const Function<decltype(aclnnDropoutGenMaskV2GetWorkspaceSize)> op("aclnnDropoutGenMaskV2");
  if (count > 0) {
    op(like.device().index(), std::array<int64_t, 1>{count}, drop, seed, offset, like.scalar_type(), mask);
  }
  return mask;
}

// keep_prob is a float for the device.
double drop_of(double keep_prob) { return static_cast<double>(1.0f - static_cast<float>(keep_prob)); }

// What one call launches.
struct Attributes {
  double scale;
  double keep_prob;
  int64_t before;
  int64_t after;
  int64_t inner_precise;
  int64_t pse_type = kScaledBias;
};

struct Rows {
  Tensor largest, sum, unused;
};

void launch(const AttentionCall& c, const Attributes& a, const Tensor& drop_mask, const Rows& rows, const Tensor& out) {
  const c10::DeviceIndex device = c.query.device().index();
  const std::string_view layout = c.layout.name;
  const bool is_plain = !c.has_sink() && a.pse_type == kScaledBias;
  if (!c.layout.is_packed() && is_plain) {
    static const Function<decltype(aclnnFlashAttentionScoreGetWorkspaceSize)> op("aclnnFlashAttentionScore");
    op(device, c.query, c.key, c.value, c.pse, drop_mask, nullptr, c.atten_mask, c.prefix, a.scale, a.keep_prob,
       a.before, a.after, c.head_num, layout, a.inner_precise, c.sparse_mode, rows.largest, rows.sum, rows.unused, out);
  } else if (!c.layout.is_packed()) {
    static const Function<decltype(aclnnFlashAttentionScoreV3GetWorkspaceSize)> op("aclnnFlashAttentionScoreV3");
    op(device, c.query, c.key, c.value, c.pse, drop_mask, nullptr, c.atten_mask, c.sink, c.prefix, kNoStart, kNoStart,
       a.scale, a.keep_prob, a.before, a.after, c.head_num, layout, a.inner_precise, c.sparse_mode, a.pse_type,
       rows.largest, rows.sum, rows.unused, out);
  } else if (!is_plain) {
    static const Function<decltype(aclnnFlashAttentionVarLenScoreV5GetWorkspaceSize)> op(
        "aclnnFlashAttentionVarLenScoreV5");
    op(device, c.query, nullptr, c.key, nullptr, c.value, c.pse, drop_mask, nullptr, c.atten_mask, c.sink, c.prefix,
       c.query_ends, c.key_ends, kNoStart, kNoStart, a.scale, a.keep_prob, a.before, a.after, c.head_num, layout,
       a.inner_precise, c.sparse_mode, a.pse_type, c.rows_as_input ? kAsInput : std::string_view(), rows.largest,
       rows.sum, rows.unused, out);
  } else if (c.rows_as_input) {
    static const Function<decltype(aclnnFlashAttentionVarLenScoreV4GetWorkspaceSize)> op(
        "aclnnFlashAttentionVarLenScoreV4");
    op(device, c.query, c.key, c.value, c.pse, drop_mask, nullptr, c.atten_mask, c.prefix, c.query_ends, c.key_ends,
       a.scale, a.keep_prob, a.before, a.after, c.head_num, layout, a.inner_precise, c.sparse_mode, kAsInput,
       rows.largest, rows.sum, rows.unused, out);
  } else {
    static const Function<decltype(aclnnFlashAttentionVarLenScoreGetWorkspaceSize)> op(
        "aclnnFlashAttentionVarLenScore");
    op(device, c.query, c.key, c.value, c.pse, drop_mask, nullptr, c.atten_mask, c.prefix, c.query_ends, c.key_ends,
       a.scale, a.keep_prob, a.before, a.after, c.head_num, layout, a.inner_precise, c.sparse_mode, rows.largest,
       rows.sum, rows.unused, out);
  }
}

struct Gradients {
  Tensor query, key, value, pse, sink;
};

void launch_grad(const AttentionCall& c, const Attributes& a, const Tensor& drop_mask, const Tensor& dy,
                 const Rows& rows, const Tensor& out, const Gradients& d) {
  const c10::DeviceIndex device = c.query.device().index();
  const std::string_view layout = c.layout.name;
  const bool is_plain = !c.has_sink() && a.pse_type == kScaledBias;
  const Tensor sink_gradient = c.has_sink() ? d.sink : Tensor();
  if (!c.layout.is_packed() && is_plain) {
    static const Function<decltype(aclnnFlashAttentionScoreGradGetWorkspaceSize)> op("aclnnFlashAttentionScoreGrad");
    op(device, c.query, c.key, c.value, dy, c.pse, drop_mask, nullptr, c.atten_mask, rows.largest, rows.sum,
       rows.unused, out, c.prefix, a.scale, a.keep_prob, a.before, a.after, c.head_num, layout, a.inner_precise,
       c.sparse_mode, d.query, d.key, d.value, d.pse);
  } else if (!c.layout.is_packed()) {
    static const Function<decltype(aclnnFlashAttentionScoreGradV3GetWorkspaceSize)> op(
        "aclnnFlashAttentionScoreGradV3");
    op(device, c.query, c.key, c.value, dy, c.pse, drop_mask, nullptr, c.atten_mask, rows.largest, rows.sum,
       rows.unused, out, c.sink, c.prefix, kNoStart, kNoStart, a.scale, a.keep_prob, a.before, a.after, c.head_num,
       layout, a.inner_precise, c.sparse_mode, a.pse_type, d.query, d.key, d.value, d.pse, sink_gradient);
  } else if (!is_plain) {
    static const Function<decltype(aclnnFlashAttentionUnpaddingScoreGradV5GetWorkspaceSize)> op(
        "aclnnFlashAttentionUnpaddingScoreGradV5");
    op(device, c.query, nullptr, c.key, nullptr, c.value, dy, c.pse, drop_mask, nullptr, c.atten_mask, rows.largest,
       rows.sum, rows.unused, out, c.sink, c.prefix, c.query_ends, c.key_ends, kNoStart, kNoStart, a.scale, a.keep_prob,
       a.before, a.after, c.head_num, layout, a.inner_precise, c.sparse_mode, a.pse_type,
       c.rows_as_input ? kAsInput : std::string_view(), d.query, nullptr, d.key, nullptr, d.value, d.pse,
       sink_gradient);
  } else if (c.rows_as_input) {
    static const Function<decltype(aclnnFlashAttentionUnpaddingScoreGradV4GetWorkspaceSize)> op(
        "aclnnFlashAttentionUnpaddingScoreGradV4");
    op(device, c.query, c.key, c.value, dy, c.pse, drop_mask, nullptr, c.atten_mask, rows.largest, rows.sum,
       rows.unused, out, c.prefix, c.query_ends, c.key_ends, a.scale, a.keep_prob, a.before, a.after, c.head_num,
       layout, a.inner_precise, c.sparse_mode, d.query, d.key, d.value, d.pse, kAsInput);
  } else {
    static const Function<decltype(aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize)> op(
        "aclnnFlashAttentionUnpaddingScoreGrad");
    op(device, c.query, c.key, c.value, dy, c.pse, drop_mask, nullptr, c.atten_mask, rows.largest, rows.sum,
       rows.unused, out, c.prefix, c.query_ends, c.key_ends, a.scale, a.keep_prob, a.before, a.after, c.head_num,
       layout, a.inner_precise, c.sparse_mode, d.query, d.key, d.value, d.pse);
  }
}

using AttentionResult = std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t, int64_t, int64_t>;

// A drop mask of the caller, or a seed and an offset; seed 0 draws them.
struct Dropout {
  const OptionalTensor& mask;
  int64_t seed, offset;
};

AttentionResult forward(const AttentionArguments& given, const Attributes& attributes, Dropout dropout) {
  const AttentionCall call = attention_call(given);
  const Tensor& query = given.query;
  bind_device(query.device().index());
  const auto row = [&] { return shapes::attention_rows(query, given.head_num, given.input_layout).make(); };
  const Tensor out = shapes::attention(query, given.key, given.value, given.head_num, given.input_layout).make();
  const Rows rows{row(), row(), shapes::empty(query).make()};
  Tensor drop_mask;
  if (attributes.keep_prob < 1) {
    if (dropout.mask.has_value() && dropout.mask->defined()) {
      drop_mask = *dropout.mask;
      check_dropout_mask(drop_mask, query, call.scores);
    } else {
      if (dropout.seed == 0) {
        const Counter counter = next_counter(std::nullopt, query.device().index(), false);
        dropout.seed = counter.seed;
        dropout.offset = counter.offset;
      }
      drop_mask = dropout_mask_of(query, call.scores, drop_of(attributes.keep_prob), dropout.seed, dropout.offset);
    }
  }
  // Positions behind the last sequence, and queries without keys.
  if (call.has_rest || call.scores == 0) {
    out.zero_();
    rows.largest.zero_();
    rows.sum.zero_();
  }
  if (call.scores > 0) launch(call, attributes, drop_mask, rows, out);
  return {out, rows.largest, rows.sum, rows.unused, dropout.seed, dropout.offset, call.scores};
}

// What the forward pass gave, and the gradient of its result.
struct Results {
  const Tensor& gradient;
  const OptionalTensor &largest, &sum, &unused, &out;
};

Gradients backward(const AttentionArguments& given, const Attributes& attributes, const Results& results, int64_t seed,
                   int64_t offset) {
  const AttentionCall call = attention_call(given);
  const Tensor& query = given.query;
  const shapes::Output result = shapes::attention(query, given.key, given.value, given.head_num, given.input_layout);
  const shapes::Output row = shapes::attention_rows(query, given.head_num, given.input_layout);
  check_like("dy", results.gradient, query, result);
  check_like("attention_in", results.out, query, result);
  check_like("softmax_max", results.largest, query, row);
  check_like("softmax_sum", results.sum, query, row);
  bind_device(query.device().index());
  const Gradients gradients{shapes::like(query).make(), shapes::like(given.key).make(),
                            shapes::like(given.value).make(), shapes::like_given(given.pse).make(),
                            shapes::like_or_empty(given.sink, query).make()};
  if (call.has_rest || call.scores == 0) {
    for (const Tensor& gradient : {gradients.query, gradients.key, gradients.value}) gradient.zero_();
    if (call.scores == 0 && gradients.pse.defined()) gradients.pse.zero_();
    if (call.scores == 0) gradients.sink.zero_();
  }
  if (call.scores > 0) {
    Tensor drop_mask;
    // The same bits as those of the forward pass.
    if (attributes.keep_prob < 1) {
      drop_mask = dropout_mask_of(query, call.scores, drop_of(attributes.keep_prob), seed, offset);
    }
    launch_grad(call, attributes, drop_mask, results.gradient,
                {*results.largest, *results.sum, results.unused.value_or(Tensor())}, *results.out, gradients);
  }
  return gradients;
}

// What the second version has beside the first.
void check_second(const char* name, const OptionalTensor& query_rope, const OptionalTensor& key_rope, int64_t pse_type,
                  at::OptionalIntArrayRef q_start, at::OptionalIntArrayRef kv_start) {
  const auto has = [](const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); };
  TORCH_CHECK_NOT_IMPLEMENTED(!has(query_rope) && !has(key_rope), name,
                              ": query_rope or key_rope is given: append its channels to query and key");
  TORCH_CHECK_NOT_IMPLEMENTED(pse_type == kAddedBias || pse_type == kScaledBias, name, ": pse_type is ", pse_type,
                              ": 0 and 1 are taken; others compute a bias from slopes, give it as pse");
  TORCH_CHECK_NOT_IMPLEMENTED(
      q_start.value_or(at::IntArrayRef()).empty() && kv_start.value_or(at::IntArrayRef()).empty(), name,
      ": q_start_idx or kv_start_idx is given: None is taken with pse_type ", pse_type);
}

}  // namespace

Tensor _npu_dropout_gen_mask(const Tensor& self, at::IntArrayRef size, double p, int64_t seed, int64_t offset,
                             std::optional<bool> /*parallel*/, std::optional<bool> /*sync*/) {
  Inputs inputs("_npu_dropout_gen_mask", "aclnnDropoutGenMaskV2", aclnn_symbol("aclnnDropoutGenMaskV2") != nullptr);
  inputs.take("input", self, kAllDtypes);
  TORCH_CHECK(p >= 0 && p <= 1, "_npu_dropout_gen_mask: p is ", p, ": it is a probability, from 0 to 1");
  bind_device(inputs.device());
  shapes::mask_bits(self, size);  // checks the sizes
  return dropout_mask_of(self, c10::multiply_integers(size), p, seed, offset);
}

AttentionResult npu_fusion_attention(const Tensor& query, const Tensor& key, const Tensor& value, int64_t head_num,
                                     c10::string_view input_layout, const OptionalTensor& pse,
                                     const OptionalTensor& padding_mask, const OptionalTensor& atten_mask, double scale,
                                     double keep_prob, int64_t pre_tockens, int64_t next_tockens, int64_t inner_precise,
                                     at::OptionalIntArrayRef prefix, at::OptionalIntArrayRef actual_seq_qlen,
                                     at::OptionalIntArrayRef actual_seq_kvlen, int64_t sparse_mode,
                                     bool /*gen_mask_parallel*/, bool /*sync*/, c10::string_view softmax_layout,
                                     const OptionalTensor& sink, const OptionalTensor& dropout_mask, int64_t seed,
                                     int64_t offset) {
  return forward(
      {"npu_fusion_attention", query, key, value, head_num, input_layout, pse, padding_mask, atten_mask, sink,
       keep_prob, inner_precise, prefix, actual_seq_qlen, actual_seq_kvlen, sparse_mode, softmax_layout},
      {scale, keep_prob, pre_tockens, next_tockens, inner_precise}, {dropout_mask, seed, offset});
}

AttentionResult npu_fusion_attention_v2(
    const Tensor& query, const Tensor& key, const Tensor& value, int64_t head_num, c10::string_view input_layout,
    const OptionalTensor& pse, const OptionalTensor& padding_mask, const OptionalTensor& atten_mask,
    const OptionalTensor& query_rope, const OptionalTensor& key_rope, double scale, double keep_prob,
    int64_t pre_tokens, int64_t next_tokens, int64_t inner_precise, at::OptionalIntArrayRef prefix,
    at::OptionalIntArrayRef actual_seq_qlen, at::OptionalIntArrayRef actual_seq_kvlen, int64_t sparse_mode,
    bool /*gen_mask_parallel*/, bool /*sync*/, int64_t pse_type, at::OptionalIntArrayRef q_start_idx,
    at::OptionalIntArrayRef kv_start_idx, c10::string_view softmax_layout, const OptionalTensor& sink,
    const OptionalTensor& dropout_mask, int64_t seed, int64_t offset) {
  constexpr const char* kName = "npu_fusion_attention_v2";
  check_second(kName, query_rope, key_rope, pse_type, q_start_idx, kv_start_idx);
  return forward({kName, query, key, value, head_num, input_layout, pse, padding_mask, atten_mask, sink, keep_prob,
                  inner_precise, prefix, actual_seq_qlen, actual_seq_kvlen, sparse_mode, softmax_layout},
                 {scale, keep_prob, pre_tokens, next_tokens, inner_precise, pse_type}, {dropout_mask, seed, offset});
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> npu_fusion_attention_grad(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& dy, int64_t head_num,
    c10::string_view input_layout, const OptionalTensor& pse, const OptionalTensor& padding_mask,
    const OptionalTensor& atten_mask, const OptionalTensor& softmax_max, const OptionalTensor& softmax_sum,
    const OptionalTensor& softmax_in, const OptionalTensor& attention_in, double scale_value, double keep_prob,
    int64_t pre_tockens, int64_t next_tockens, int64_t inner_precise, int64_t seed, int64_t offset, int64_t /*numels*/,
    at::OptionalIntArrayRef prefix, at::OptionalIntArrayRef actual_seq_qlen, at::OptionalIntArrayRef actual_seq_kvlen,
    int64_t sparse_mode, bool /*gen_mask_parallel*/, bool /*sync*/, c10::string_view softmax_layout,
    const OptionalTensor& sink) {
  const Gradients d =
      backward({"npu_fusion_attention_grad", query, key, value, head_num, input_layout, pse, padding_mask, atten_mask,
                sink, keep_prob, inner_precise, prefix, actual_seq_qlen, actual_seq_kvlen, sparse_mode, softmax_layout},
               {scale_value, keep_prob, pre_tockens, next_tockens, inner_precise},
               {dy, softmax_max, softmax_sum, softmax_in, attention_in}, seed, offset);
  return {d.query, d.key, d.value, d.pse, d.sink};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> npu_fusion_attention_grad_v2(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& dy, int64_t head_num,
    c10::string_view input_layout, const OptionalTensor& pse, const OptionalTensor& padding_mask,
    const OptionalTensor& atten_mask, const OptionalTensor& softmax_max, const OptionalTensor& softmax_sum,
    const OptionalTensor& softmax_in, const OptionalTensor& attention_in, const OptionalTensor& query_rope,
    const OptionalTensor& key_rope, double scale_value, double keep_prob, int64_t pre_tokens, int64_t next_tokens,
    int64_t inner_precise, int64_t seed, int64_t offset, int64_t /*numels*/, at::OptionalIntArrayRef prefix,
    at::OptionalIntArrayRef actual_seq_qlen, at::OptionalIntArrayRef actual_seq_kvlen, int64_t sparse_mode,
    bool /*gen_mask_parallel*/, bool /*sync*/, int64_t pse_type, at::OptionalIntArrayRef q_start_idx,
    at::OptionalIntArrayRef kv_start_idx, c10::string_view softmax_layout, const OptionalTensor& sink) {
  constexpr const char* kName = "npu_fusion_attention_grad_v2";
  check_second(kName, query_rope, key_rope, pse_type, q_start_idx, kv_start_idx);
  const Gradients d =
      backward({kName, query, key, value, head_num, input_layout, pse, padding_mask, atten_mask, sink, keep_prob,
                inner_precise, prefix, actual_seq_qlen, actual_seq_kvlen, sparse_mode, softmax_layout},
               {scale_value, keep_prob, pre_tokens, next_tokens, inner_precise, pse_type},
               {dy, softmax_max, softmax_sum, softmax_in, attention_in}, seed, offset);
  return {d.query, d.key, d.value, d.pse, Tensor(), Tensor(), d.sink};
}

}  // namespace torch_npu::custom
