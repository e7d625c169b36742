#pragma once

#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>

namespace torch_npu {

// The strides that torch.empty_like gives a tensor like `self`: dense, in its memory order, without gaps and repeated
// elements.
inline at::DimVector dense_strides(const at::Tensor& self) {
  if (self.is_non_overlapping_and_dense()) return at::DimVector(self.strides());
  return at::DimVector(at::infer_dense_strides(self.sizes(), self.strides()));
}

}  // namespace torch_npu
