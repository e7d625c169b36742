#pragma once
// Conversion of npu tensors to CPU tensors for CPU kernels, and back: on the same bytes, or on copies in host memory.

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace torch_npu::aicpu {

// The location of the arguments' bytes for a kernel.
enum class Bytes {
  kShared,  // in place
  kCopied,  // copied to host storages of the same sizes, so that arguments overlap as on the device
};

// The tensors of one kernel call. Created before the call, used for its results after it.
class CpuViews {
 public:
  explicit CpuViews(c10::DeviceIndex device, Bytes bytes = Bytes::kShared) : device_(device), bytes_(bytes) {}

  c10::DeviceIndex device() const { return device_; }

  // The kernel's argument for `tensor`: the CPU view of an npu tensor; other tensors unchanged. sync_arguments() copies
  // copied bytes back if the kernel may write them.
  at::Tensor to_cpu(const at::Tensor& tensor, bool may_write = true);

  // The same for a storage.
  at::Storage to_cpu(const at::Storage& storage);

  // The caller's result for a kernel's result: the argument itself, a view of an argument, or a new npu tensor.
  at::Tensor to_npu(const at::Tensor& result);

  // Applies the kernel's other changes of its arguments: sizes, strides, storage (resize, set_), the parts of sparse
  // tensors.
  void sync_arguments();

 private:
  struct Pair {
    at::Tensor npu;
    at::Tensor cpu;
    bool may_write;
  };

  at::Tensor dense_to_cpu(const at::Tensor& tensor);
  at::Tensor sparse_to_cpu(const at::Tensor& tensor, bool may_write);
  at::Tensor compressed_to_cpu(const at::Tensor& tensor, bool may_write);
  at::Tensor derived_to_cpu(const at::Tensor& tensor);
  c10::Storage cpu_storage(const c10::Storage& npu, std::size_t begin, std::size_t end);
  void sync_bytes(const Pair& pair);
  void check_device(const at::Tensor& tensor) const;
  void remember(const c10::StorageImpl* cpu_storage, const c10::Storage& npu);
  c10::Storage adopt(const c10::Storage& cpu);

  const c10::DeviceIndex device_;
  const Bytes bytes_;
  std::vector<Pair> arguments_;
  std::vector<std::pair<const c10::StorageImpl*, c10::Storage>> storages_;  // CPU storage -> its npu storage
  std::vector<std::pair<c10::Storage, c10::Storage>> copies_;               // the same for copies, kept alive
};

}  // namespace torch_npu::aicpu
