#pragma once
// The fallbacks for calls that aclnn does not take: ATen's CPU kernel on the device's bytes, or on copies.

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "aten/aicpu/copying.h"
#include "aten/aicpu/fallback.h"
#include "aten/aicpu/unboxed.h"

namespace torch_npu::aclnn_check {

// The handle of "add.Tensor".
c10::OperatorHandle operator_named(const char* name);

// The boxed fallback, for kernels of lists that raise version counters themselves. Not inline: operators of one
// signature share it.
template <typename R, typename... Args>
[[gnu::noinline]] R call_boxed(const c10::OperatorHandle& op, Args... args) {
  const auto kernel = c10::BoxedKernel::makeFromFunction<&aicpu::run_fallback>();
  return c10::impl::BoxedKernelWrapper<R(Args...)>::call(kernel, op, c10::DispatchKeySet(),
                                                         std::forward<Args>(args)...);
}

// Host<"add.Tensor", &at::cpu::add>::call has the operator's signature.
template <aicpu::OpName kName, auto kKernel, aicpu::InputLayout kTakes = aicpu::InputLayout::kOneDevice>
struct Host;

template <aicpu::OpName kName, typename R, typename... Args, R (*kKernel)(Args...), aicpu::InputLayout kTakes>
struct Host<kName, kKernel, kTakes> {
  static R call(Args... args) {
    if (aicpu::copies_arguments()) [[unlikely]] {
      static const c10::OperatorHandle op = operator_named(kName.text);
      return call_boxed<R, Args...>(op, std::forward<Args>(args)...);
    }
    return aicpu::Unboxed<kName, kKernel, kTakes>::call(std::forward<Args>(args)...);
  }
};

}  // namespace torch_npu::aclnn_check
