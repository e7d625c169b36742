// The third version of fused attention: the first one, with tensors in place of numbers.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include "aten/composed/sequences.h"
#include "aten/custom/shapes.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

// Numbers that a call gives as a tensor, or as integers of a graph.
class Numbers {
 public:
  Numbers(const char* name, const char* role, const OptionalTensor& tensor) {
    if (tensor.has_value() && tensor->defined()) values_ = numbers_of(name, role, *tensor);
  }
  explicit Numbers(at::OptionalSymIntArrayRef given) {
    if (!given.has_value()) return;
    values_.emplace();
    for (const c10::SymInt& number : *given) values_->push_back(number.guard_int(__FILE__, __LINE__));
  }
  operator at::OptionalIntArrayRef() const {
    return values_.has_value() ? at::OptionalIntArrayRef(*values_) : at::OptionalIntArrayRef();
  }

 private:
  std::optional<std::vector<int64_t>> values_;
};

int64_t number_in(const char* name, const char* role, const OptionalTensor& tensor) {
  TORCH_CHECK(tensor.has_value() && tensor->defined() && tensor->numel() == 1 &&
                  at::isIntegralType(tensor->scalar_type(), /*includeBool=*/false),
              name, ": ", role, " is None or no integer: what npu_fusion_attention_v3 gave is taken with keep_prob");
  return tensor->item().toLong();
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> npu_fusion_attention_v3(
    const Tensor& query, const Tensor& key, const Tensor& value, int64_t head_num, std::string_view input_layout,
    const OptionalTensor& pse, const OptionalTensor& padding_mask, const OptionalTensor& atten_mask, double scale,
    double keep_prob, int64_t pre_tockens, int64_t next_tockens, int64_t inner_precise,
    at::OptionalSymIntArrayRef prefix, const OptionalTensor& actual_seq_qlen, const OptionalTensor& actual_seq_kvlen,
    int64_t sparse_mode, bool gen_mask_parallel, bool sync, std::string_view softmax_layout,
    const OptionalTensor& sink) {
  constexpr const char* kName = "npu_fusion_attention_v3";
  const auto options = query.options().dtype(at::kLong);
  if (query.is_meta()) {
    const auto row = [&] { return shapes::attention_rows(query, head_num, input_layout).make(); };
    return {shapes::attention(query, key, value, head_num, input_layout).make(),
            row(),
            row(),
            shapes::empty(query).make(),
            at::empty({1}, options),
            at::empty({1}, options)};
  }
  const auto [out, largest, sum, unused, seed, offset, count] = npu_fusion_attention(
      query, key, value, head_num, input_layout, pse, padding_mask, atten_mask, scale, keep_prob, pre_tockens,
      next_tockens, inner_precise, Numbers(prefix), Numbers(kName, "actual_seq_qlen", actual_seq_qlen),
      Numbers(kName, "actual_seq_kvlen", actual_seq_kvlen), sparse_mode, gen_mask_parallel, sync, softmax_layout, sink,
      std::nullopt, 0, 0);
  static_cast<void>(count);
  return {out, largest, sum, unused, at::full({1}, seed, options), at::full({1}, offset, options)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> npu_fusion_attention_grad_v3(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& dy, int64_t head_num,
    std::string_view input_layout, const OptionalTensor& pse, const OptionalTensor& padding_mask,
    const OptionalTensor& atten_mask, const OptionalTensor& softmax_max, const OptionalTensor& softmax_sum,
    const OptionalTensor& softmax_in, const OptionalTensor& attention_in, double scale_value, double keep_prob,
    int64_t pre_tockens, int64_t next_tockens, int64_t inner_precise, const OptionalTensor& seed,
    const OptionalTensor& offset, at::OptionalSymIntArrayRef prefix, const OptionalTensor& actual_seq_qlen,
    const OptionalTensor& actual_seq_kvlen, int64_t sparse_mode, bool gen_mask_parallel, bool sync,
    std::string_view softmax_layout, const OptionalTensor& sink) {
  constexpr const char* kName = "npu_fusion_attention_grad_v3";
  if (query.is_meta()) {
    return {shapes::like(query).make(), shapes::like(key).make(), shapes::like(value).make(),
            shapes::like_given(pse).make(), shapes::like_or_empty(sink, query).make()};
  }
  const bool drops = keep_prob < 1;
  return npu_fusion_attention_grad(
      query, key, value, dy, head_num, input_layout, pse, padding_mask, atten_mask, softmax_max, softmax_sum,
      softmax_in, attention_in, scale_value, keep_prob, pre_tockens, next_tockens, inner_precise,
      drops ? number_in(kName, "seed", seed) : 0, drops ? number_in(kName, "offset", offset) : 0, 0, Numbers(prefix),
      Numbers(kName, "actual_seq_qlen", actual_seq_qlen), Numbers(kName, "actual_seq_kvlen", actual_seq_kvlen),
      sparse_mode, gen_mask_parallel, sync, softmax_layout, sink);
}

}  // namespace torch_npu::custom
