#pragma once
// Helpers for generated functionalization of npu:: operators that write: the tensors behind functional ones, and the
// update of their values.

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace torch_npu::custom {

template <typename... Tensors>
bool is_functional(const Tensors&... tensors) {
  return (at::functionalization::impl::isFunctionalTensor(tensors) || ...);
}

// The current value; other tensors are returned unchanged.
inline at::Tensor value_of(const at::Tensor& tensor) {
  if (!is_functional(tensor)) return tensor;
  at::functionalization::impl::sync(tensor);
  return at::functionalization::impl::from_functional_tensor(tensor);
}
inline std::optional<at::Tensor> value_of(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? std::optional(value_of(*tensor)) : std::nullopt;
}

// Later reads of `tensor` or its views return `value`.
inline void write_behind(const at::Tensor& tensor, const at::Tensor& value) {
  at::functionalization::impl::replace_(tensor, value);
  at::functionalization::impl::commit_update(tensor);
  at::functionalization::impl::sync(tensor);
}

}  // namespace torch_npu::custom
