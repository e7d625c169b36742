#pragma once
// What operators of namespace npu have in common that are composed of ATen's operators: checks of their tensors, which
// may be npu or meta tensors, and results that share no memory with them.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <vector>

#include "aten/aclnn/check.h"

namespace torch_npu::custom {

using aclnn_check::dtypes;

constexpr aclnn_check::Dtypes kCopied = aclnn_check::kCopiedDtypes;
constexpr aclnn_check::Dtypes kReals = aclnn_check::kFloating;
constexpr aclnn_check::Dtypes kIndexes = aclnn_check::dtypes({at::kInt, at::kLong});

// Checks the tensors of one call one by one.
class Operands {
 public:
  explicit Operands(const char* name) : name_(name) {}

  // Throws unless `tensor` is dense, on npu or meta like the others, and of a type in `allowed`.
  Operands& take(const char* role, const at::Tensor& tensor, aclnn_check::Dtypes allowed = kCopied);
  Operands& take(const char* role, const std::optional<at::Tensor>& tensor, aclnn_check::Dtypes allowed = kCopied);
  Operands& take(const char* role, at::TensorList tensors, aclnn_check::Dtypes allowed = kCopied);

 private:
  const char* name_;
  std::optional<at::Device> device_;
};

// `result` in dense memory that it does not share with `input`.
at::Tensor apart_from(const at::Tensor& input, const at::Tensor& result);

// Writes `result` to the caller's tensor. Throws if that has another type or device.
at::Tensor& give(const at::Tensor& result, at::Tensor& out);

// In the type that 16-bit types are computed in.
at::Tensor in_compute_type(const at::Tensor& tensor);

// The gradients of sum(grads * function(inputs)) for `inputs`, by PyTorch's own derivatives; of meta tensors, their
// shapes. Zeros for an input that is not used.
using Composition = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& inputs)>;
std::vector<at::Tensor> gradients_of(const Composition& function, std::vector<at::Tensor> inputs,
                                     const std::vector<at::Tensor>& grads);

}  // namespace torch_npu::custom
