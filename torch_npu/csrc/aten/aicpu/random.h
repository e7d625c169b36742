#pragma once
// Host generators for host kernels that draw random numbers for an npu tensor.

#include <ATen/core/Generator.h>

#include <mutex>
#include <optional>

namespace torch_npu::aicpu {

// A CPU generator seeded from `npu`'s state, which advances; without a generator the device's default one counts.
// It belongs to the calling thread and is valid until this thread's next call. Throws for a generator of another
// device.
at::Generator kernel_generator(const std::optional<at::Generator>& npu, c10::DeviceIndex device);

// For kernels that draw from the CPU's default generator and take none: while it lives, that generator is seeded from
// the device's, and afterwards it is as it was.
class DefaultGeneratorSwap {
 public:
  explicit DefaultGeneratorSwap(c10::DeviceIndex device);
  DefaultGeneratorSwap(const DefaultGeneratorSwap&) = delete;
  DefaultGeneratorSwap& operator=(const DefaultGeneratorSwap&) = delete;
  ~DefaultGeneratorSwap();

 private:
  std::lock_guard<std::recursive_mutex> lock_;  // one swap at a time in the process
  c10::intrusive_ptr<c10::TensorImpl> saved_;
};

}  // namespace torch_npu::aicpu
