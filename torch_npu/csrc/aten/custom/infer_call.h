#pragma once
// One call of attention without gradients.

#include <ATen/core/Tensor.h>

#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

namespace torch_npu::custom {

struct InferCall {
  static constexpr int64_t kAll = std::numeric_limits<int32_t>::max();

  const char* name;
  const at::Tensor &query, &key, &value;
  std::optional<at::Tensor> bias = {}, mask = {}, sink = {}, table = {}, query_rope = {}, key_rope = {};
  at::IntArrayRef query_lengths = {}, key_lengths = {};
  int64_t heads = 0, key_heads = 0;  // key_heads: 0 for as many
  double scale = 1;
  int64_t before = kAll, after = kAll;  // positions that a query sees
  std::string_view layout = {};
  int64_t sparse_mode = 0;
  int64_t page = 0;
  bool gives_log_sum = false;
};

// The results: attention, and the logarithms of sums. Throws for tensors and numbers that are not taken.
std::tuple<at::Tensor, at::Tensor> infer(const InferCall& call);
// The same into the two tensors of `out`.
std::tuple<at::Tensor, at::Tensor> infer_into(const InferCall& call, at::TensorList out);

}  // namespace torch_npu::custom
