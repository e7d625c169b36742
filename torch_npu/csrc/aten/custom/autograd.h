#pragma once
// Helpers for generated derivatives of npu:: operators, in addition to PyTorch's autograd nodes.

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/input_metadata.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compat/autograd_node.h"

namespace torch_npu::custom {

// A non-tensor argument as a node stores it after the call.
template <typename T>
T keep(const T& value) {
  return value;
}
inline std::string keep(std::string_view text) { return std::string(text); }
template <typename T>
std::vector<T> keep(at::ArrayRef<T> values) {
  return values.vec();
}
// An omitted or given list.
class KeptInts {
 public:
  explicit KeptInts(at::OptionalIntArrayRef values) {
    if (values.has_value()) values_ = values->vec();
  }
  KeptInts() = default;
  operator at::OptionalIntArrayRef() const {
    return values_.has_value() ? at::OptionalIntArrayRef(*values_) : at::OptionalIntArrayRef();
  }

 private:
  std::optional<std::vector<int64_t>> values_;
};
inline KeptInts keep(at::OptionalIntArrayRef values) { return KeptInts(values); }
class KeptSymInts {
 public:
  explicit KeptSymInts(at::OptionalSymIntArrayRef values) {
    if (values.has_value()) values_ = values->vec();
  }
  KeptSymInts() = default;
  operator at::OptionalSymIntArrayRef() const {
    return values_.has_value() ? at::OptionalSymIntArrayRef(*values_) : at::OptionalSymIntArrayRef();
  }

 private:
  std::optional<std::vector<c10::SymInt>> values_;
};
inline KeptSymInts keep(at::OptionalSymIntArrayRef values) { return KeptSymInts(values); }
template <typename T>
using Saved = decltype(keep(std::declval<std::remove_cvref_t<T>>()));

inline std::optional<at::Tensor> optional_of(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

// An output without dependents has no gradient: zeros.
inline at::Tensor or_zeros(const at::Tensor& grad, const torch::autograd::InputMetadata& output) {
  return grad.defined() ? grad : output.zeros_like();
}

// Throws if a forward-mode derivative would be lost.
template <typename... Tensors>
void check_no_tangent(const char* name, const Tensors&... tensors) {
  TORCH_CHECK_NOT_IMPLEMENTED(!(torch::autograd::isFwGradDefined(tensors) || ...), "npu::", name,
                              " has no forward-mode derivative: use reverse mode");
}

}  // namespace torch_npu::custom
