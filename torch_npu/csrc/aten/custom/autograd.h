#pragma once
// What generated derivatives of npu:: operators need beside torch::autograd::Function.

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace torch_npu::custom {

inline at::Tensor tensor_of(const std::optional<at::Tensor>& tensor) { return tensor.value_or(at::Tensor()); }
inline std::optional<at::Tensor> optional_of(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

// Whether a derivative will be asked for: by a later backward pass, or by a tangent, which is refused.
inline bool needs_gradient(const at::Tensor& tensor) {
  if (!tensor.defined()) return false;
  return (at::GradMode::is_enabled() && tensor.requires_grad()) || tensor._fw_grad(0).defined();
}
inline bool needs_gradient(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && needs_gradient(*tensor);
}
template <typename... Tensors>
requires(sizeof...(Tensors) > 1) bool needs_gradient(const Tensors&... tensors) {
  return (needs_gradient(tensors) || ...);
}

// Keeps an argument that is no tensor for the backward pass.
template <typename T>
void keep(torch::autograd::AutogradContext* ctx, const char* name, const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    ctx->saved_data[name] = std::string(value);
  } else if constexpr (std::is_same_v<T, at::IntArrayRef>) {
    ctx->saved_data[name] = value.vec();
  } else {
    ctx->saved_data[name] = value;
  }
}

// The same as the formulas take it; `T` is the argument's type.
template <typename T>
auto kept(torch::autograd::AutogradContext* ctx, const char* name) {
  using Value = std::remove_cvref_t<T>;
  const c10::IValue& value = ctx->saved_data.at(name);
  if constexpr (std::is_same_v<Value, std::string_view>) {
    return value.toStringRef();
  } else if constexpr (std::is_same_v<Value, at::IntArrayRef>) {
    return value.toIntVector();
  } else {
    return value.to<Value>();
  }
}

}  // namespace torch_npu::custom
