#pragma once
// What tensors a collective takes. Each function throws one error that names the collective.

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include <vector>

namespace torch_npu::checks {

// An npu tensor, strided and dense.
void dense(const at::Tensor& tensor, const char* operation);

// One such tensor in a list, which c10d passes for one device: that tensor.
at::Tensor& only(std::vector<at::Tensor>& tensors, const char* operation);
std::vector<at::Tensor>& only(std::vector<std::vector<at::Tensor>>& lists, const char* operation);

// Tensors of one device and data type.
void compatible(const at::Tensor& tensor, const at::Tensor& other, const char* operation);

// `list` has a tensor like `tensor` for each rank. Whether all have its number of elements, too.
bool list_of(const std::vector<at::Tensor>& list, const at::Tensor& tensor, int ranks, const char* operation);

// `whole` has `ranks` times the elements of `part`. `message` is PyTorch's.
void parts_of(const at::Tensor& whole, const at::Tensor& part, int ranks, const char* message);

enum class Whole { kOutput, kInput };

// As many outputs as inputs, dense; of each pair, `whole` has `ranks` times the elements of the other.
void pairs(at::TensorList outputs, at::TensorList inputs, Whole whole, int ranks, const char* operation);

// `rank` is one of `ranks`.
void rank(int64_t rank, int ranks, const char* operation);

// The list of the root, with a tensor like `tensor` for each rank; of other ranks the empty list that they pass.
std::vector<at::Tensor> list_of_root(std::vector<std::vector<at::Tensor>>& lists, const at::Tensor& tensor,
                                     int64_t root, int rank, int ranks, const char* operation);

}  // namespace torch_npu::checks
