#pragma once
// Lists of tensors for CPU kernels that read and write the elements of several lists as if the tensors at one index
// were dense and of one layout, whatever their strides (ATen's fused optimizers).

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace torch_npu::aicpu {

class DenseLists {
 public:
  // CPU tensors; the first list leads. Where the tensors of its sizes at an index are not dense and of one layout,
  // they are replaced by contiguous copies. Throws for one of the first list whose elements share memory.
  explicit DenseLists(std::vector<std::vector<at::Tensor>*> lists);

  // After the kernel: stores the copies' elements in the tensors, and restores the lists.
  void write_back();

 private:
  struct Replaced {
    std::vector<at::Tensor>* list;
    std::size_t index;
    at::Tensor original;
  };

  std::vector<Replaced> replaced_;
};

}  // namespace torch_npu::aicpu
