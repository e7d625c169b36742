#pragma once
// What an npu:: operator gives back, from its arguments: an entry of npu_native_functions.yaml names these functions in
// its `out`. One function serves npu tensors, meta tensors and sizes that are symbols.

#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>

namespace torch_npu::shapes {

struct Output {
  c10::SymDimVector sizes;
  at::TensorOptions options;

  // A dense tensor of this kind.
  at::Tensor make() const;
  // Gives a tensor of the caller these sizes. Throws where it is of another type or on another device.
  void give(const at::Tensor& out) const;
};

// As `tensor`.
Output like(const at::Tensor& tensor);

// Its sizes, in float32, or in float64 where it is of float64.
Output wide(const at::Tensor& tensor);

// The sizes of `tensor` in the type of `other`.
Output sized(const at::Tensor& tensor, const at::Tensor& other);

// `image`, [..., 1 or 3, height, width], with three channels. Throws where it is of another shape.
Output with_rgb_channels(const at::Tensor& image);

// `tensor` with half the size in `dim`. Throws where that is odd.
Output halved(const at::Tensor& tensor, int64_t dim);

// A number for each row of `tensor`, whose last dimensions are those of `gamma` and become 1; as wide. Throws where
// they differ.
Output rows(const at::Tensor& tensor, const at::Tensor& gamma);

// `tensor` with its dimensions in the order `perm`. Throws where that is no permutation.
Output permuted(const at::Tensor& tensor, at::IntArrayRef perm);

}  // namespace torch_npu::shapes
