#pragma once

#include <ATen/core/LegacyTypeDispatch.h>

#include "aten/aicpu/allocator.h"
#include "core/device.h"
#include "core/stream.h"

namespace torch_npu::aicpu {

// While it lives, this thread calls ATen's CPU kernels on the bytes of `device`: after the work of the current stream,
// with results in the device's memory, below autograd.
class HostCall {
 public:
  explicit HostCall(c10::DeviceIndex device) : scope_((prepare(device), device)) {}

 private:
  static void prepare(c10::DeviceIndex device) {
    bind_device(device);
    wait_for_current_stream(device);
  }

  KernelScope scope_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
};

}  // namespace torch_npu::aicpu
