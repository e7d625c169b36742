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

constexpr int64_t kScaledBias = 1;                      // scale (q k' + pse)
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
};

struct Rows {
  Tensor greatest, sum, unused;
};

void launch(const AttentionCall& c, const Attributes& a, const Tensor& drop_mask, const Rows& rows, const Tensor& out) {
  const c10::DeviceIndex device = c.query.device().index();
  const std::string_view layout = c.layout.name;
  if (!c.layout.is_packed() && !c.has_sink()) {
    static const Function<decltype(aclnnFlashAttentionScoreGetWorkspaceSize)> op("aclnnFlashAttentionScore");
    op(device, c.query, c.key, c.value, c.pse, drop_mask, nullptr, c.atten_mask, c.prefix, a.scale, a.keep_prob,
       a.before, a.after, c.head_num, layout, a.inner_precise, c.sparse_mode, rows.greatest, rows.sum, rows.unused,
       out);
  } else if (!c.layout.is_packed()) {
    static const Function<decltype(aclnnFlashAttentionScoreV3GetWorkspaceSize)> op("aclnnFlashAttentionScoreV3");
    op(device, c.query, c.key, c.value, c.pse, drop_mask, nullptr, c.atten_mask, c.sink, c.prefix, kNoStart, kNoStart,
       a.scale, a.keep_prob, a.before, a.after, c.head_num, layout, a.inner_precise, c.sparse_mode, kScaledBias,
       rows.greatest, rows.sum, rows.unused, out);
  } else if (c.has_sink()) {
    static const Function<decltype(aclnnFlashAttentionVarLenScoreV5GetWorkspaceSize)> op(
        "aclnnFlashAttentionVarLenScoreV5");
    op(device, c.query, nullptr, c.key, nullptr, c.value, c.pse, drop_mask, nullptr, c.atten_mask, c.sink, c.prefix,
       c.query_ends, c.key_ends, kNoStart, kNoStart, a.scale, a.keep_prob, a.before, a.after, c.head_num, layout,
       a.inner_precise, c.sparse_mode, kScaledBias, c.rows_as_input ? kAsInput : std::string_view(), rows.greatest,
       rows.sum, rows.unused, out);
  } else if (c.rows_as_input) {
    static const Function<decltype(aclnnFlashAttentionVarLenScoreV4GetWorkspaceSize)> op(
        "aclnnFlashAttentionVarLenScoreV4");
    op(device, c.query, c.key, c.value, c.pse, drop_mask, nullptr, c.atten_mask, c.prefix, c.query_ends, c.key_ends,
       a.scale, a.keep_prob, a.before, a.after, c.head_num, layout, a.inner_precise, c.sparse_mode, kAsInput,
       rows.greatest, rows.sum, rows.unused, out);
  } else {
    static const Function<decltype(aclnnFlashAttentionVarLenScoreGetWorkspaceSize)> op(
        "aclnnFlashAttentionVarLenScore");
    op(device, c.query, c.key, c.value, c.pse, drop_mask, nullptr, c.atten_mask, c.prefix, c.query_ends, c.key_ends,
       a.scale, a.keep_prob, a.before, a.after, c.head_num, layout, a.inner_precise, c.sparse_mode, rows.greatest,
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
  if (!c.layout.is_packed() && !c.has_sink()) {
    static const Function<decltype(aclnnFlashAttentionScoreGradGetWorkspaceSize)> op("aclnnFlashAttentionScoreGrad");
    op(device, c.query, c.key, c.value, dy, c.pse, drop_mask, nullptr, c.atten_mask, rows.greatest, rows.sum,
       rows.unused, out, c.prefix, a.scale, a.keep_prob, a.before, a.after, c.head_num, layout, a.inner_precise,
       c.sparse_mode, d.query, d.key, d.value, d.pse);
  } else if (!c.layout.is_packed()) {
    static const Function<decltype(aclnnFlashAttentionScoreGradV3GetWorkspaceSize)> op(
        "aclnnFlashAttentionScoreGradV3");
    op(device, c.query, c.key, c.value, dy, c.pse, drop_mask, nullptr, c.atten_mask, rows.greatest, rows.sum,
       rows.unused, out, c.sink, c.prefix, kNoStart, kNoStart, a.scale, a.keep_prob, a.before, a.after, c.head_num,
       layout, a.inner_precise, c.sparse_mode, kScaledBias, d.query, d.key, d.value, d.pse, d.sink);
  } else if (c.has_sink()) {
    static const Function<decltype(aclnnFlashAttentionUnpaddingScoreGradV5GetWorkspaceSize)> op(
        "aclnnFlashAttentionUnpaddingScoreGradV5");
    op(device, c.query, nullptr, c.key, nullptr, c.value, dy, c.pse, drop_mask, nullptr, c.atten_mask, rows.greatest,
       rows.sum, rows.unused, out, c.sink, c.prefix, c.query_ends, c.key_ends, kNoStart, kNoStart, a.scale, a.keep_prob,
       a.before, a.after, c.head_num, layout, a.inner_precise, c.sparse_mode, kScaledBias,
       c.rows_as_input ? kAsInput : std::string_view(), d.query, nullptr, d.key, nullptr, d.value, d.pse, d.sink);
  } else if (c.rows_as_input) {
    static const Function<decltype(aclnnFlashAttentionUnpaddingScoreGradV4GetWorkspaceSize)> op(
        "aclnnFlashAttentionUnpaddingScoreGradV4");
    op(device, c.query, c.key, c.value, dy, c.pse, drop_mask, nullptr, c.atten_mask, rows.greatest, rows.sum,
       rows.unused, out, c.prefix, c.query_ends, c.key_ends, a.scale, a.keep_prob, a.before, a.after, c.head_num,
       layout, a.inner_precise, c.sparse_mode, d.query, d.key, d.value, d.pse, kAsInput);
  } else {
    static const Function<decltype(aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize)> op(
        "aclnnFlashAttentionUnpaddingScoreGrad");
    op(device, c.query, c.key, c.value, dy, c.pse, drop_mask, nullptr, c.atten_mask, rows.greatest, rows.sum,
       rows.unused, out, c.prefix, c.query_ends, c.key_ends, a.scale, a.keep_prob, a.before, a.after, c.head_num,
       layout, a.inner_precise, c.sparse_mode, d.query, d.key, d.value, d.pse);
  }
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

std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t, int64_t, int64_t> npu_fusion_attention(
    const Tensor& query, const Tensor& key, const Tensor& value, int64_t head_num, c10::string_view input_layout,
    const OptionalTensor& pse, const OptionalTensor& padding_mask, const OptionalTensor& atten_mask, double scale,
    double keep_prob, int64_t pre_tockens, int64_t next_tockens, int64_t inner_precise, at::OptionalIntArrayRef prefix,
    at::OptionalIntArrayRef actual_seq_qlen, at::OptionalIntArrayRef actual_seq_kvlen, int64_t sparse_mode,
    bool /*gen_mask_parallel*/, bool /*sync*/, c10::string_view softmax_layout, const OptionalTensor& sink,
    const OptionalTensor& dropout_mask, int64_t seed, int64_t offset) {
  const AttentionCall call = attention_call({"npu_fusion_attention", query, key, value, head_num, input_layout, pse,
                                             padding_mask, atten_mask, sink, keep_prob, inner_precise, prefix,
                                             actual_seq_qlen, actual_seq_kvlen, sparse_mode, softmax_layout});
  bind_device(query.device().index());
  const Tensor out = shapes::attention(query, key, value, head_num, input_layout).make();
  const Rows rows{shapes::attention_rows(query, head_num, input_layout).make(),
                  shapes::attention_rows(query, head_num, input_layout).make(), shapes::empty(query).make()};
  Tensor drop_mask;
  if (keep_prob < 1) {
    if (dropout_mask.has_value() && dropout_mask->defined()) {
      drop_mask = *dropout_mask;
      check_dropout_mask(drop_mask, query, call.scores);
    } else {
      if (seed == 0) {
        const Counter counter = next_counter(std::nullopt, query.device().index(), false);
        seed = counter.seed;
        offset = counter.offset;
      }
      drop_mask = dropout_mask_of(query, call.scores, drop_of(keep_prob), seed, offset);
    }
  }
  // Positions behind the last sequence, and queries without keys.
  if (call.has_rest || call.scores == 0) {
    out.zero_();
    rows.greatest.zero_();
    rows.sum.zero_();
  }
  if (call.scores > 0) {
    launch(call, {scale, keep_prob, pre_tockens, next_tockens, inner_precise}, drop_mask, rows, out);
  }
  return {out, rows.greatest, rows.sum, rows.unused, seed, offset, call.scores};
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
  const AttentionCall call = attention_call({"npu_fusion_attention_grad", query, key, value, head_num, input_layout,
                                             pse, padding_mask, atten_mask, sink, keep_prob, inner_precise, prefix,
                                             actual_seq_qlen, actual_seq_kvlen, sparse_mode, softmax_layout});
  const shapes::Output result = shapes::attention(query, key, value, head_num, input_layout);
  const shapes::Output row = shapes::attention_rows(query, head_num, input_layout);
  check_like("dy", dy, query, result);
  check_like("attention_in", attention_in, query, result);
  check_like("softmax_max", softmax_max, query, row);
  check_like("softmax_sum", softmax_sum, query, row);
  bind_device(query.device().index());
  const Gradients gradients{shapes::like(query).make(), shapes::like(key).make(), shapes::like(value).make(),
                            shapes::like_given(pse).make(), shapes::like_or_empty(sink, query).make()};
  if (call.has_rest || call.scores == 0) {
    for (const Tensor& gradient : {gradients.query, gradients.key, gradients.value}) gradient.zero_();
    if (call.scores == 0 && gradients.pse.defined()) gradients.pse.zero_();
    if (call.scores == 0) gradients.sink.zero_();
  }
  if (call.scores > 0) {
    Tensor drop_mask;
    // The same bits as those of the forward pass.
    if (keep_prob < 1) drop_mask = dropout_mask_of(query, call.scores, drop_of(keep_prob), seed, offset);
    launch_grad(call, {scale_value, keep_prob, pre_tockens, next_tockens, inner_precise}, drop_mask, dy,
                {*softmax_max, *softmax_sum, softmax_in.value_or(Tensor())}, *attention_in, gradients);
  }
  return {gradients.query, gradients.key, gradients.value, gradients.pse, gradients.sink};
}

}  // namespace torch_npu::custom
