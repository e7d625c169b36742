#pragma once
// The CPU allocator while a host kernel works for the device: what the kernel allocates on this thread comes from the
// device's cache, so that its results are npu memory without a copy.

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

namespace torch_npu::aicpu {

// For its lifetime, CPU allocations of this thread are served from `device`; from the host where it is -1. Nests.
class KernelScope {
 public:
  explicit KernelScope(c10::DeviceIndex device);
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;
  ~KernelScope();

 private:
  c10::DeviceIndex previous_;
};

// Turns memory that a kernel allocated within a scope into npu memory of `device`: the caller gets the owner, and
// `cpu` goes on naming the same bytes without owning them. False, and nothing changed, where the memory is the host's.
bool take_over(c10::DataPtr& cpu, c10::DeviceIndex device, c10::DataPtr* npu);

}  // namespace torch_npu::aicpu
