#pragma once
// An npu tensor as a CPU kernel sees it, and back: the same bytes, or copies of them in host memory.

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace torch_npu::aicpu {

// Where a kernel finds the bytes of its arguments.
enum class Bytes {
  kShared,  // where they are
  kCopied,  // in host storages of the same sizes, so that arguments overlap as they do on the device
};

// The tensors of one kernel call. Made before the call, used for its results after it.
class CpuViews {
 public:
  explicit CpuViews(c10::DeviceIndex device, Bytes bytes = Bytes::kShared) : device_(device), bytes_(bytes) {}

  c10::DeviceIndex device() const { return device_; }

  // What the kernel is given for `tensor`: an npu tensor's CPU cpu_view, other tensors as they are. Copied bytes are
  // copied back by sync_arguments() where the kernel may write them.
  at::Tensor to_cpu(const at::Tensor& tensor, bool may_write = true);

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
  std::vector<std::pair<c10::Storage, c10::Storage>> copies_;               // the same of copied bytes, kept alive
};

}  // namespace torch_npu::aicpu
