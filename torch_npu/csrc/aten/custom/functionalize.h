#pragma once
// What generated functionalization of npu:: operators that write needs: the tensors behind functional ones, and where
// their new values go.

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

// The current value; of other tensors themselves.
inline at::Tensor value_of(const at::Tensor& tensor) {
  if (!is_functional(tensor)) return tensor;
  at::functionalization::impl::sync(tensor);
  return at::functionalization::impl::from_functional_tensor(tensor);
}
inline std::optional<at::Tensor> value_of(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? std::optional(value_of(*tensor)) : std::nullopt;
}

// What reads `tensor` or its views from now on sees `value`.
inline void write_behind(const at::Tensor& tensor, const at::Tensor& value) {
  at::functionalization::impl::replace_(tensor, value);
  at::functionalization::impl::commit_update(tensor);
  at::functionalization::impl::sync(tensor);
}

}  // namespace torch_npu::custom
