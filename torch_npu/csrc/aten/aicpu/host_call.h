#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "aten/aicpu/allocator.h"
#include "core/device.h"
#include "core/stream.h"

namespace torch_npu::aicpu {

// While it lives, this thread calls ATen's CPU kernels on the bytes of `device`: after the work of the current stream,
// with results in the device's memory, below autograd and autocast.
class HostCall {
 public:
  explicit HostCall(c10::DeviceIndex device)
      : scope_((prepare(device), device)), no_autocast_(c10::autocast_dispatch_keyset) {}

 private:
  static void prepare(c10::DeviceIndex device) {
    bind_device(device);
    wait_for_current_stream(device);
  }

  KernelScope scope_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
  c10::impl::ExcludeDispatchKeyGuard no_autocast_;
};

}  // namespace torch_npu::aicpu
