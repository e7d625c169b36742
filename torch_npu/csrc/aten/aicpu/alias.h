#pragma once
// An npu tensor as a CPU kernel sees it, and back: the same bytes, no copy.

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace torch_npu::aicpu {

// The tensors of one kernel call. Made before the call, used for its results after it.
class Aliases {
 public:
  explicit Aliases(c10::DeviceIndex device) : device_(device) {}

  c10::DeviceIndex device() const { return device_; }

  // What the kernel is given for `tensor`: an npu tensor's CPU alias, other tensors as they are.
  at::Tensor to_cpu(const at::Tensor& tensor);

  // The same for a storage.
  at::Storage to_cpu(const at::Storage& storage);

  // What the caller is given for a kernel's result: the argument itself, a view of an argument, or a new npu tensor.
  at::Tensor to_npu(const at::Tensor& result);

  // Passes on what the kernel changed about its arguments beside their bytes: sizes, strides, storage (resize, set_),
  // the parts of sparse tensors.
  void sync_arguments();

 private:
  struct Pair {
    at::Tensor npu;
    at::Tensor cpu;
  };

  at::Tensor dense_to_cpu(const at::Tensor& tensor);
  at::Tensor sparse_to_cpu(const at::Tensor& tensor);
  at::Tensor compressed_to_cpu(const at::Tensor& tensor);
  at::Tensor derived_to_cpu(const at::Tensor& tensor);
  void check_device(const at::Tensor& tensor) const;
  void remember(const c10::StorageImpl* twin, const c10::Storage& npu);
  c10::Storage adopt(const c10::Storage& cpu);

  const c10::DeviceIndex device_;
  std::vector<Pair> arguments_;
  std::vector<std::pair<const c10::StorageImpl*, c10::Storage>> storages_;  // CPU storage -> its npu storage
};

}  // namespace torch_npu::aicpu
