#pragma once
// Operators on lists of tensors: one aclnn function runs what PyTorch defines as one operator per tensor.

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "aten/aclnn/outputs.h"
#include "aten/aclnn/same_layout.h"
#include "aten/empty.h"

namespace torch_npu::aclnn_check {

// The outputs of one call: created here, or given by the caller.
class ListOutputs {
 public:
  ListOutputs() = default;
  explicit ListOutputs(at::TensorList given) : given_(given) {}
  ListOutputs(const ListOutputs&) = delete;
  ListOutputs& operator=(const ListOutputs&) = delete;

  bool are_given() const { return given_.data() != nullptr; }
  at::TensorList list() const { return are_given() ? given_ : at::TensorList(created_); }

  // Creates one like each tensor of `self`.
  void make_same_layout(at::TensorList self) {
    if (are_given()) return;
    created_.reserve(self.size());
    for (const at::Tensor& tensor : self) created_.push_back(aclnn_check::make_same_layout(tensor));
  }

  // Creates one number per tensor.
  void make_numbers(at::TensorList self) {
    created_.reserve(self.size());
    for (const at::Tensor& tensor : self)
      created_.push_back(make_tensor({}, tensor.scalar_type(), tensor.device().index()));
  }

  std::vector<at::Tensor> take() { return std::move(created_); }

 private:
  at::TensorList given_;
  std::vector<at::Tensor> created_;
};

namespace detail {

// Whether the other arguments match the tensors `self`.
inline bool fits_lists(at::TensorList self, at::TensorList others, bool is_written) {
  if (others.size() != self.size()) return false;
  for (std::size_t i = 0; i < self.size(); ++i) {
    if (!has_same_layout(self[i], others[i])) return false;
    if (is_written && at::get_overlap_status(self[i], others[i]) == at::MemOverlapStatus::Partial) return false;
  }
  return true;
}
inline bool fits_lists(at::TensorList, const at::Scalar& number, bool) { return is_real(number); }
inline bool fits_lists(at::TensorList self, at::ArrayRef<at::Scalar> numbers, bool) {
  return numbers.size() == self.size() && std::all_of(numbers.begin(), numbers.end(), is_real);
}
// One number in device memory.
inline bool fits_lists(at::TensorList self, const at::Tensor& number, bool) {
  return number.dim() == 0 && number.dtype() == self[0].dtype();
}
inline bool fits_lists(at::TensorList, std::optional<at::ScalarType> dtype, bool) { return !dtype.has_value(); }

}  // namespace detail

// Whether one task can replace PyTorch's operators per tensor: dense tensors of one type, others of the same shapes and
// memory orders, and numbers.
template <typename... Rest>
bool are_lists(const ListOutputs& results, at::TensorList self, const Rest&... rest) {
  const bool is_uniform = std::all_of(self.begin(), self.end(), [&](const at::Tensor& tensor) {
    return tensor.dtype() == self[0].dtype() && tensor.is_non_overlapping_and_dense();
  });
  return is_uniform && (detail::fits_lists(self, rest, results.are_given()) && ...);
}

}  // namespace torch_npu::aclnn_check
