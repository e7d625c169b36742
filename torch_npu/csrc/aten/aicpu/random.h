#pragma once
// Host generators for host kernels that draw random numbers for an npu tensor.

#include <ATen/core/Generator.h>

#include <mutex>
#include <optional>

namespace torch_npu::aicpu {

// A CPU generator seeded from the state of `npu`, which advances; without a generator, of the device's default one. It
// belongs to the calling thread and is valid until this thread's next call. Throws for a generator of another device.
at::Generator kernel_generator(const std::optional<at::Generator>& npu, c10::DeviceIndex device);

// For kernels that use the CPU's default generator and have no generator argument: while it lives, that generator is
// seeded from the device's; its destructor restores it.
class DefaultGeneratorSwap {
 public:
  explicit DefaultGeneratorSwap(c10::DeviceIndex device);
  DefaultGeneratorSwap(const DefaultGeneratorSwap&) = delete;
  DefaultGeneratorSwap& operator=(const DefaultGeneratorSwap&) = delete;
  ~DefaultGeneratorSwap();

 private:
  std::lock_guard<std::recursive_mutex> lock_;  // one swap at a time per process
  c10::intrusive_ptr<c10::TensorImpl> saved_;
};

}  // namespace torch_npu::aicpu
