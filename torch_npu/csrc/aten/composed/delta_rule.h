#pragma once
// The gated delta rule over sequences that follow each other in tensors [T, heads, channels].

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <vector>

namespace torch_npu::custom {

struct DeltaRule {
  const char* name;
  const at::Tensor &query, &key, &value;
  const std::optional<at::Tensor>&beta, &g, &gk, &lengths;
  double scale;
  mutable at::Tensor final_ = {};

  // Called after each step with the numbers of its tokens and their states [tokens, Nv, Dv, Dk].
  using OnStates = std::function<void(const std::vector<int64_t>& tokens, const at::Tensor& states)>;

  void check() const;
  // The outputs [T, Nv, Dv] in the compute type, from the sequences' first states [B, Nv, Dv, Dk].
  at::Tensor run(const std::vector<int64_t>& counts, at::Tensor state, const OnStates& on_states) const;
  // Of the last run.
  const at::Tensor& final_state() const { return final_; }
};

}  // namespace torch_npu::custom
