#pragma once
// The CPU allocator during a host kernel for the device: the thread's allocations come from the device's cache, so that
// the kernel's results are npu memory without a copy.

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

namespace torch_npu::aicpu {

// While it lives, CPU allocations of this thread are served from `device`; from the host if it is -1. Can be nested.
class KernelScope {
 public:
  explicit KernelScope(c10::DeviceIndex device);
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;
  ~KernelScope();

 private:
  c10::DeviceIndex previous_;
};

// Turns memory that a kernel allocated within a scope into npu memory of `device`: the caller becomes the owner, and
// `cpu` refers to the same bytes without owning them. False, with no change, for host memory.
bool take_over(c10::DataPtr& cpu, c10::DeviceIndex device, c10::DataPtr* npu);

}  // namespace torch_npu::aicpu
