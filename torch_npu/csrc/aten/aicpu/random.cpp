#include "aten/aicpu/random.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/TensorImpl.h>

#include "aten/aicpu/allocator.h"
#include "core/generator.h"

namespace torch_npu::aicpu {
namespace {

uint64_t next_seed(at::Generator generator) {
  std::lock_guard lock(generator.mutex());
  return static_cast<GeneratorImpl*>(generator.unsafeGetGeneratorImpl())->next_kernel_seed();
}

std::recursive_mutex& swap_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

at::Generator kernel_generator(const std::optional<at::Generator>& npu, c10::DeviceIndex device) {
  thread_local at::Generator host = at::make_generator<at::CPUGeneratorImpl>();
  host.set_current_seed(next_seed(generator_of(npu, device)));
  return host;
}

DefaultGeneratorSwap::DefaultGeneratorSwap(c10::DeviceIndex device) : lock_(swap_mutex()) {
  at::Generator host = at::detail::getDefaultCPUGenerator();
  uint64_t seed = next_seed(default_generator(device));
  std::lock_guard lock(host.mutex());
  saved_ = host.unsafeGetGeneratorImpl()->get_state();
  host.unsafeGetGeneratorImpl()->set_current_seed(seed);
}

DefaultGeneratorSwap::~DefaultGeneratorSwap() {
  at::Generator host = at::detail::getDefaultCPUGenerator();
  std::lock_guard lock(host.mutex());
  host.unsafeGetGeneratorImpl()->set_state(*saved_);
}

}  // namespace torch_npu::aicpu
