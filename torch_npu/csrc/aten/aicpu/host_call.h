#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <optional>

#include "aten/aicpu/allocator.h"
#include "core/device.h"
#include "core/stream.h"
#include "core/trace.h"

namespace torch_npu::aicpu {

// While it lives, this thread calls ATen's CPU kernels on the bytes of `device`: after the work of the current stream,
// with results in the device's memory, below autograd and autocast. In a recording it is one kernel of the operator
// `name`, and what it calls inside is not shown.
class HostCall {
 public:
  HostCall(c10::DeviceIndex device, const char* name)
      : scope_((prepare(device), device)), no_autocast_(c10::autocast_dispatch_keyset), kernel_(name, device) {
    if (kernel_.is_watched()) [[unlikely]]
      silent_.emplace(false);
  }

 private:
  static void prepare(c10::DeviceIndex device) {
    bind_device(device);
    wait_for_current_stream(device);
  }

  KernelScope scope_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
  c10::impl::ExcludeDispatchKeyGuard no_autocast_;
  trace::HostKernel kernel_;
  std::optional<at::RecordFunctionGuard> silent_;  // 0.4 us: only where somebody looks
};

}  // namespace torch_npu::aicpu
