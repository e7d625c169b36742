#pragma once
// The outputs of npu:: operators as a function of their arguments: entries of npu_native_functions.yaml name these
// functions in `out`. One function serves npu tensors, meta tensors and symbolic sizes.

#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>

namespace torch_npu::shapes {

struct Output {
  c10::SymDimVector sizes;
  at::TensorOptions options;

  // Creates a dense tensor with these properties.
  at::Tensor make() const;
  // Resizes the caller's tensor. Throws if it has another type or device.
  void give(const at::Tensor& out) const;
};

// Like `tensor`.
Output like(const at::Tensor& tensor);

// Its sizes, in float32, or float64 if it is float64.
Output wide(const at::Tensor& tensor);

// The sizes of `tensor` in the type of `other`.
Output sized(const at::Tensor& tensor, const at::Tensor& other);

// `image`, [..., 1 or 3, height, width], with three channels. Throws for other shapes.
Output with_rgb_channels(const at::Tensor& image);

// `tensor` with half the size in `dim`. Throws if that is odd.
Output halved(const at::Tensor& tensor, int64_t dim);

// One number per row of `tensor`: the last dimensions, which must be those of `gamma`, become 1; in the type of wide().
// Throws if they differ.
Output rows(const at::Tensor& tensor, const at::Tensor& gamma);

// `tensor` with its dimensions in the order `perm`. Throws if that is no permutation.
Output permuted(const at::Tensor& tensor, at::IntArrayRef perm);

}  // namespace torch_npu::shapes
