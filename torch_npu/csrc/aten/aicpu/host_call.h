#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <optional>

#include "aten/aicpu/allocator.h"
#include "core/capture.h"
#include "core/device.h"
#include "core/stream.h"
#include "core/trace.h"

namespace torch_npu::aicpu {

// While it lives, this thread may call ATen's CPU kernels on the bytes of `device`: after the work of the current
// stream, with results in device memory, below autograd and autocast. A recording shows one kernel of the operator
// `name`, without inner calls.
class HostCall {
 public:
  HostCall(c10::DeviceIndex device, const char* name)
      : scope_((prepare(device, name), device)), no_autocast_(c10::autocast_dispatch_keyset), kernel_(name, device) {
    if (kernel_.is_watched()) [[unlikely]]
      silent_.emplace(false);
  }

 private:
  static void prepare(c10::DeviceIndex device, const char* name) {
    bind_device(device);
    if (any_capture()) [[unlikely]]
      refuse_in_capture(device, name,
                        "it runs on the AI CPU route, a kernel of the host, and a graph holds aclnn operators.");
    wait_for_current_stream(device);
  }

  KernelScope scope_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
  c10::impl::ExcludeDispatchKeyGuard no_autocast_;
  trace::HostKernel kernel_;
  std::optional<at::RecordFunctionGuard> silent_;  // costs 0.4 us: only if there is an observer
};

}  // namespace torch_npu::aicpu
