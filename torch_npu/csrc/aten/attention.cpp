// torch.nn.functional.scaled_dot_product_attention by aclnn's fused attention, forward and backward. Unsupported calls
// are composed of other operators, as in PyTorch's "math" backend.

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <ATen/ops/ones.h>
#include <aclnnop/aclnn_flash_attention_score_grad_v2.h>
#include <aclnnop/aclnn_flash_attention_score_v2.h>
#include <torch/library.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "aten/aclnn/check.h"
#include "aten/aclnn/outputs.h"
#include "aten/empty.h"
#include "aten/tangent.h"
#include "core/aclnn.h"
#include "core/device.h"

namespace torch_npu {
namespace {

using at::Tensor;

constexpr aclnn_check::Dtypes kDtypes = aclnn_check::dtypes({at::kFloat, at::kHalf, at::kBFloat16});
constexpr aclnn_check::Dtypes kBool = aclnn_check::dtypes({at::kBool});
constexpr std::string_view kLayout = "BNSD";                       // batch, heads, positions, channels
constexpr int64_t kCopies = 8;                                     // copies of each number of a row
constexpr int64_t kNoLimit = std::numeric_limits<int32_t>::max();  // of the tokens before and after a query
constexpr int64_t kPrecision = 0;                                  // "high precision"
// The bias is added to the scaled scores.
constexpr int64_t kBiasAfterScale = 0;

const AclnnOp<decltype(aclnnFlashAttentionScoreV2GetWorkspaceSize)>& forward_op() {
  static const AclnnOp<decltype(aclnnFlashAttentionScoreV2GetWorkspaceSize)> op("aclnnFlashAttentionScoreV2",
                                                                                AclObject::kIntArray);
  return op;
}

const AclnnOp<decltype(aclnnFlashAttentionScoreGradV2GetWorkspaceSize)>& backward_op() {
  static const AclnnOp<decltype(aclnnFlashAttentionScoreGradV2GetWorkspaceSize)> op("aclnnFlashAttentionScoreGradV2",
                                                                                    AclObject::kIntArray);
  return op;
}

// Some tensors in PyTorch's query have symbolic sizes, or no memory.
bool has_type(aclnn_check::Check& check, const Tensor& tensor, aclnn_check::Dtypes allowed) {
  return check.takes_empty(tensor, allowed) && tensor.sym_numel() != 0;
}

// One bias for all scores, or one that can be broadcast to them.
bool takes_bias(aclnn_check::Check& check, const Tensor& bias, const Tensor& query, const Tensor& key,
                bool takes_bool) {
  const bool has_same_layout =
      bias.scalar_type() == query.scalar_type() || (takes_bool && bias.scalar_type() == at::kBool);
  if (!has_same_layout || !has_type(check, bias, kDtypes | kBool) || bias.dim() < 2 || bias.dim() > 4) return false;
  const std::array<c10::SymInt, 4> scores = {query.sym_size(0), query.sym_size(1), query.sym_size(2), key.sym_size(2)};
  for (int64_t i = 1; i <= bias.dim(); ++i) {
    if (bias.sym_size(-i) != 1 && bias.sym_size(-i) != scores[static_cast<std::size_t>(4 - i)]) return false;
  }
  return true;
}

bool takes(aclnn_check::Check& check, const Tensor& query, const Tensor& key, const Tensor& value) {
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4) return false;
  for (const Tensor& tensor : {query, key, value}) {
    if (!has_type(check, tensor, kDtypes) || tensor.scalar_type() != query.scalar_type() ||
        tensor.sym_size(0) != query.sym_size(0) || tensor.sym_size(3) != query.sym_size(3))
      return false;
  }
  return key.sym_sizes() == value.sym_sizes() && query.sym_size(1) % key.sym_size(1) == 0;
}

// Whether `has` is true for the tensor, or for one wrapped in it by torch.func.vmap.
template <typename Has>
bool any_level(const Tensor& tensor, const Has& has) {
  if (has(tensor)) return true;
  const auto* batched = at::functorch::maybeGetBatchedImpl(tensor);
  return C10_UNLIKELY(batched != nullptr) && any_level(batched->value(), has);
}

// The query of torch.nn.functional.scaled_dot_product_attention. The fused operator has no formula for derivatives of a
// mask or for forward-mode derivatives.
int64_t choose(const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& mask,
               double dropout_p, bool /*is_causal*/, std::optional<double> /*scale*/, bool is_grouped) {
  aclnn_check::Check check;
  const auto has_derivative = [](const Tensor& tensor) { return any_level(tensor, &has_tangent); };
  const bool has_mask = mask.has_value() && mask->defined();
  bool fuses = at::globalContext().userEnabledOverrideableSDP() && forward_op().available() &&
               backward_op().available() && takes(check, query, key, value) && dropout_p == 0 &&
               (is_grouped || query.sym_size(1) == key.sym_size(1)) && !has_derivative(query) && !has_derivative(key) &&
               !has_derivative(value);
  if (fuses && has_mask) {
    const auto needs_gradient = [](const Tensor& tensor) { return tensor.requires_grad() || has_tangent(tensor); };
    // PyTorch converts a boolean mask to a bias.
    fuses = !any_level(*mask, needs_gradient) && takes_bias(check, *mask, query, key, /*takes_bool=*/true);
  }
  return static_cast<int64_t>(fuses ? sdp::SDPBackend::overrideable : sdp::SDPBackend::math);
}

// A bias expanded to all scores, without a copy.
Tensor over_scores(const Tensor& bias, const Tensor& query, const Tensor& key) {
  return bias.defined() ? bias.expand({query.size(0), query.size(1), query.size(2), key.size(2)}) : bias;
}

// The operator's mask: none, or by its mode all keys after each query, counted from the first.
struct Sparsity {
  int64_t mode = 0;
  Tensor mask;
};

Sparsity sparsity_of(bool is_causal, c10::DeviceIndex device) {
  constexpr int64_t kCausal = 2;
  constexpr int64_t kPattern = 2048;  // the size of the mode's mask tensor
  if (!is_causal) return {};
  // softnpu uses the mode only and does not read the mask tensor.
  if (is_host_addressable()) return {kCausal, make_tensor({1, 1}, at::kBool, device).expand({kPattern, kPattern})};
  return {kCausal, at::ones({kPattern, kPattern}, at::TensorOptions(npu_device(device)).dtype(at::kBool)).triu(1)};
}

double scale_of(std::optional<double> scale, const Tensor& query) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(query.size(3))));
}

// The result's memory order is [batch, positions, heads, channels], so that its heads are merged without a copy.
// PyTorch passes the second and third result to the backward pass without using them: the greatest score of each row,
// and the sum of exponentials relative to it. torch_npu/utils/fake_kernels.py has the same results without memory.
std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor> attention(
    const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& given_bias,
    double dropout_p, bool is_causal, bool /*return_debug_mask*/, std::optional<double> scale) {
  aclnn_check::Check check;
  const Tensor bias = given_bias.value_or(Tensor());
  TORCH_CHECK(
      takes(check, query, key, value) && (!bias.defined() || takes_bias(check, bias, query, key, /*takes_bool=*/false)),
      "_scaled_dot_product_fused_attention_overrideable: npu takes query, key and value of [batch, heads, "
      "positions, channels] in one of float32, float16 and bfloat16, and a bias of the same type: got ",
      query.scalar_type(), query.sizes(), ", ", key.scalar_type(), key.sizes(), ", ", value.scalar_type(),
      value.sizes());
  TORCH_CHECK(dropout_p == 0, "_scaled_dot_product_fused_attention_overrideable: npu takes no dropout, got ",
              dropout_p);
  const c10::DeviceIndex device = check.device();
  bind_device(device);
  const at::IntArrayRef sizes = query.sizes();
  const at::DimVector rows = {sizes[0], sizes[1], sizes[2], kCopies};
  Tensor out = make_tensor({sizes[0], sizes[2], sizes[1], sizes[3]}, query.scalar_type(), device).transpose(1, 2);
  Tensor largest = make_tensor(rows, at::kFloat, device);
  Tensor sum = make_tensor(rows, at::kFloat, device);
  const Sparsity sparsity = sparsity_of(is_causal, device);
  forward_op()(device, query, key, value, over_scores(bias, query, key), nullptr, nullptr, sparsity.mask, nullptr,
               nullptr, nullptr, scale_of(scale, query), 1.0, kNoLimit, kNoLimit, query.size(1), kLayout, kPrecision,
               sparsity.mode, kBiasAfterScale, largest, sum, nullptr, out);
  return {out, largest, sum, Tensor(), query.size(2), key.size(2), Tensor(), Tensor(), Tensor()};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_backward(
    const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
    std::array<bool, 4> wanted, const Tensor& out, const Tensor& largest, const Tensor& sum, const Tensor& /*unused*/,
    int64_t /*queries*/, int64_t /*keys*/, double /*dropout_p*/, bool is_causal, const Tensor& /*seed*/,
    const Tensor& /*offset*/, std::optional<double> scale) {
  const c10::DeviceIndex device = query.device().index();
  bind_device(device);
  Tensor of_query = aclnn_check::make_same_layout(query);
  Tensor of_key = aclnn_check::make_same_layout(key);
  Tensor of_value = aclnn_check::make_same_layout(value);
  const Tensor whole_bias = over_scores(bias, query, key);
  Tensor of_bias;
  if (wanted[3] && bias.defined()) of_bias = make_tensor(whole_bias.sizes(), bias.scalar_type(), device);
  const Sparsity sparsity = sparsity_of(is_causal, device);
  backward_op()(device, query, key, value, grad, whole_bias, nullptr, nullptr, sparsity.mask, largest, sum, nullptr,
                out, nullptr, nullptr, nullptr, scale_of(scale, query), 1.0, kNoLimit, kNoLimit, query.size(1), kLayout,
                kPrecision, sparsity.mode, kBiasAfterScale, of_query, of_key, of_value, of_bias);
  if (of_bias.defined()) of_bias = aclnn_check::make_same_layout(bias).copy_(of_bias.sum_to_size(bias.sizes()));
  const auto if_wanted = [&wanted](std::size_t i, const Tensor& gradient) { return wanted[i] ? gradient : Tensor(); };
  return {if_wanted(0, of_query), if_wanted(1, of_key), if_wanted(2, of_value), of_bias};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_fused_sdp_choice", &choose);
  m.impl("_scaled_dot_product_fused_attention_overrideable", &attention);
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward", &attention_backward);
}

}  // namespace
}  // namespace torch_npu

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &torch_npu::choose)
}  // namespace at::native
