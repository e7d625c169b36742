#include "aten/custom/infer_call.h"

#include <ATen/ops/_to_copy.h>
#include <ATen/ops/zero.h>
#include <aclnnop/aclnn_fused_infer_attention_score_v4.h>

#include <array>

#include "aten/custom/inputs.h"
#include "aten/custom/shapes.h"
#include "core/aclnn.h"
#include "core/device.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

constexpr const char* kFunction = "aclnnFusedInferAttentionScoreV4";
constexpr aclnn_check::Dtypes kValues = dtypes({at::kHalf, at::kBFloat16, at::kFloat});

bool has(const std::optional<Tensor>& tensor) { return tensor.has_value() && tensor->defined(); }

bool is_packed(const InferCall& call) { return call.layout.find('T') != std::string_view::npos; }

// Whether positions of query belong to no sequence, so that nothing is written for them.
bool has_rest(const InferCall& call) {
  if (!is_packed(call)) return !call.query_lengths.empty();
  const auto positions = static_cast<int64_t>(call.layout.front() == 'T' ? call.query.size(0) : call.query.size(1));
  return call.query_lengths.empty() || call.query_lengths.back() < positions;
}

void run(const InferCall& call, const Tensor& out, const Tensor& log_sum) {
  static const AclnnOp<decltype(aclnnFusedInferAttentionScoreV4GetWorkspaceSize)> function(
      kFunction, AclObject::kTensorList, AclObject::kIntArray);
  Inputs inputs(call.name, kFunction, function.available());
  const auto same = aclnn_check::dtype_bit(call.query.scalar_type());
  inputs.take("query", call.query, kValues);
  inputs.take("key", call.key, same);
  inputs.take("value", call.value, same);
  inputs.take("pse_shift", call.bias, kValues);
  inputs.take("atten_mask", call.mask, dtypes({at::kBool, at::kChar, at::kByte}));
  inputs.take("learnable_sink", call.sink, kValues);
  inputs.take("block_table", call.table, dtypes({at::kInt}));
  inputs.take("query_rope", call.query_rope, same);
  inputs.take("key_rope", call.key_rope, same);
  bind_device(inputs.device());
  if (has_rest(call)) {
    out.zero_();
    log_sum.zero_();
  }
  if (out.numel() == 0) return;
  const Tensor sink = has(call.sink) ? at::_to_copy(*call.sink, call.sink->options().dtype(at::kFloat)) : Tensor();
  const std::array<Tensor, 1> keys = {call.key}, values = {call.value};
  const at::IntArrayRef none;
  const Tensor absent;
  constexpr int64_t kZero = 0;
  function(inputs.device(), call.query, at::TensorList(keys), at::TensorList(values), call.bias, call.mask,
           call.query_lengths, call.key_lengths, absent, absent, absent, absent, absent, absent, absent, call.table,
           absent, absent, absent, absent, absent, absent, absent, absent, none, call.query_rope, call.key_rope, absent,
           absent, sink, call.heads, call.scale, call.before, call.after, call.layout,
           call.key_heads == 0 ? call.heads : call.key_heads, call.sparse_mode, kZero, call.page, kZero,
           call.gives_log_sum, kZero, kZero, kZero, out, log_sum);
}

std::tuple<shapes::Output, shapes::Output> results(const InferCall& call) {
  return {shapes::infer_attention(call.query, call.value, call.layout, call.table, call.heads, call.key_heads),
          shapes::infer_lse(call.query, call.layout, call.heads, call.gives_log_sum)};
}

}  // namespace

std::tuple<Tensor, Tensor> infer(const InferCall& call) {
  const auto [out_as, log_sum_as] = results(call);
  const Tensor out = out_as.make(), log_sum = log_sum_as.make();
  run(call, out, log_sum);
  return {out, log_sum};
}

std::tuple<Tensor, Tensor> infer_into(const InferCall& call, at::TensorList out) {
  const auto [out_as, log_sum_as] = results(call);
  TORCH_CHECK(out.size() == 2, call.name, ": out has ", out.size(), " tensors: the result and softmax_lse are taken");
  const auto check = [&](const char* role, const Tensor& given, const shapes::Output& wanted) {
    const auto sizes = C10_AS_INTARRAYREF_SLOW(c10::SymIntArrayRef(wanted.sizes));
    const auto type = c10::typeMetaToScalarType(wanted.options.dtype());
    TORCH_CHECK(given.device() == call.query.device() && given.scalar_type() == type && given.sizes() == sizes,
                call.name, ": ", role, " of out is a tensor of ", given.scalar_type(), ", size ", given.sizes(), " on ",
                given.device(), ": ", type, " of size ", sizes, " on ", call.query.device(), " is taken");
  };
  check("the first", out[0], out_as);
  if (call.gives_log_sum) check("the second", out[1], log_sum_as);
  run(call, out[0], out[1]);
  return {out[0], out[1]};
}

}  // namespace torch_npu::custom
