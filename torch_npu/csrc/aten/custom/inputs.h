#pragma once
// Checks the tensors of an npu:: operator one by one. These operators have no fallback: calls that aclnn does not take
// are errors.

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>

#include <optional>

#include "aten/aclnn/check.h"

namespace torch_npu::custom {

using aclnn_check::dtypes;
using aclnn_check::kAllDtypes;

constexpr aclnn_check::Dtypes kUpToFloat = aclnn_check::dtypes({at::kHalf, at::kBFloat16, at::kFloat});

// Throws: the tensor is not what the operator `name` takes.
[[noreturn]] void refuse_tensor(const char* name, const char* role, const at::Tensor& tensor,
                                aclnn_check::Dtypes allowed);

class Inputs {
 public:
  // For the operator `name`, computed by `function`. Throws if the bound CANN does not have that function.
  Inputs(const char* name, const char* function, bool is_available) : name_(name) {
    if (!is_available) [[unlikely]]
      missing(function);
  }

  // Throws unless `tensor` is a dense npu tensor on the same device as the others, of a type in `allowed`.
  void take(const char* role, const at::Tensor& tensor, aclnn_check::Dtypes allowed) {
    // Kernels of npu write some of what they take: bytes that lazy clones share are copied in any case.
    const bool fits = tensor.defined() && check_.takes_output(tensor);
    if (!fits || (aclnn_check::dtype_bit(tensor.scalar_type()) & allowed) == 0) [[unlikely]]
      refuse_tensor(name_, role, tensor, allowed);
  }
  void take(const char* role, const std::optional<at::Tensor>& tensor, aclnn_check::Dtypes allowed) {
    if (tensor.has_value() && tensor->defined()) take(role, *tensor, allowed);
  }
  void take(const char* role, at::TensorList tensors, aclnn_check::Dtypes allowed) {
    for (const at::Tensor& tensor : tensors) take(role, tensor, allowed);
  }
  void take(const char* role, const std::optional<at::TensorList>& tensors, aclnn_check::Dtypes allowed) {
    if (tensors.has_value()) take(role, *tensors, allowed);
  }

  // The device of the tensors checked so far.
  c10::DeviceIndex device() const { return check_.device(); }

 private:
  [[noreturn]] void missing(const char* function) const;

  const char* name_;
  aclnn_check::Check check_;
};

// Throws if `out` overlaps itself or an input.
inline void check_overlap(const at::Tensor& out, const at::Tensor& input) { at::assert_no_overlap(out, input); }
inline void check_overlap(const at::Tensor& out, const std::optional<at::Tensor>& input) {
  if (input.has_value() && input->defined()) at::assert_no_overlap(out, *input);
}
inline void check_overlap(const at::Tensor& out, at::TensorList inputs) {
  for (const at::Tensor& input : inputs) at::assert_no_overlap(out, input);
}
template <typename... Tensors>
void check_apart(const at::Tensor& out, const Tensors&... inputs) {
  at::assert_no_internal_overlap(out);
  materialize(out);
  (check_overlap(out, inputs), ...);
}

}  // namespace torch_npu::custom
