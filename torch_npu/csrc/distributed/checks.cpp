#include "distributed/checks.h"

#include <c10/util/Exception.h>

namespace torch_npu::checks {

void dense(const at::Tensor& tensor, const char* operation) {
  TORCH_CHECK_VALUE(tensor.defined(), operation, ": a tensor is undefined");
  TORCH_CHECK_VALUE(tensor.device().type() == c10::DeviceType::PrivateUse1 && tensor.layout() == c10::kStrided,
                    operation, ": Tensors must be NPU and dense, got one of layout ", tensor.layout(), " on ",
                    tensor.device());
  TORCH_CHECK_VALUE(tensor.is_non_overlapping_and_dense(), operation,
                    ": Tensors must be contiguous, got one with sizes ", tensor.sizes(), " and strides ",
                    tensor.strides());
}

at::Tensor& only(std::vector<at::Tensor>& tensors, const char* operation) {
  TORCH_CHECK_VALUE(tensors.size() == 1, operation, ": Expecting one tensor only but got ", tensors.size(),
                    ": a process group has one device in each process");
  return tensors.front();
}

std::vector<at::Tensor>& only(std::vector<std::vector<at::Tensor>>& lists, const char* operation) {
  TORCH_CHECK_VALUE(lists.size() == 1, operation, ": Expecting one list of tensors only but got ", lists.size(),
                    ": a process group has one device in each process");
  return lists.front();
}

void compatible(const at::Tensor& tensor, const at::Tensor& other, const char* operation) {
  TORCH_CHECK_TYPE(tensor.scalar_type() == other.scalar_type(), operation,
                   ": output tensor must have the same type as input tensor, got ", tensor.scalar_type(), " and ",
                   other.scalar_type());
  TORCH_CHECK_VALUE(tensor.device() == other.device(), operation, ": Tensors must be on same NPU device, got ",
                    tensor.device(), " and ", other.device());
}

bool list_of(const std::vector<at::Tensor>& list, const at::Tensor& tensor, int ranks, const char* operation) {
  TORCH_CHECK_VALUE(list.size() == static_cast<std::size_t>(ranks), operation, ": the list has ", list.size(),
                    " tensors, but the group has ", ranks, " ranks");
  bool are_equal = true;
  for (const at::Tensor& each : list) {
    TORCH_CHECK_VALUE(each.defined() && each.layout() == c10::kStrided, operation, ": Tensors must be NPU and dense");
    compatible(each, tensor, operation);
    are_equal = are_equal && each.numel() == tensor.numel();
  }
  return are_equal;
}

void parts_of(const at::Tensor& whole, const at::Tensor& part, int ranks, const char* message) {
  TORCH_CHECK_VALUE(whole.numel() == part.numel() * ranks, message, ", got ", whole.sizes(), " and ", part.sizes(),
                    " with ", ranks, " ranks");
}

void pairs(at::TensorList outputs, at::TensorList inputs, Whole whole, int ranks, const char* operation) {
  TORCH_CHECK_VALUE(!outputs.empty() && outputs.size() == inputs.size(), operation, ": ", outputs.size(),
                    " outputs and ", inputs.size(), " inputs");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    dense(outputs[i], operation);
    dense(inputs[i], operation);
    compatible(outputs[i], inputs[i], operation);
    if (whole == Whole::kOutput) {
      parts_of(outputs[i], inputs[i], ranks, "output tensor size must be equal to world_size times input tensor size");
    } else {
      parts_of(inputs[i], outputs[i], ranks, "input tensor must be the same size as output size times world size");
    }
  }
}

void rank(int64_t rank, int ranks, const char* operation) {
  TORCH_CHECK_VALUE(rank >= 0 && rank < ranks, operation, ": invalid root rank ", rank, " of a group of ", ranks);
}

std::vector<at::Tensor> list_of_root(std::vector<std::vector<at::Tensor>>& lists, const at::Tensor& tensor,
                                     int64_t root, int rank, int ranks, const char* operation) {
  checks::rank(root, ranks, operation);
  if (root != rank) {
    TORCH_CHECK_VALUE(lists.empty(), operation, ": only the root rank ", root, " passes a list of tensors, not rank ",
                      rank);
    return {};
  }
  const std::vector<at::Tensor>& list = only(lists, operation);
  TORCH_CHECK_VALUE(list_of(list, tensor, ranks, operation), operation,
                    ": All tensor operands to scatter/gather must have the same number of elements");
  return list;
}

}  // namespace torch_npu::checks
