// Operators that PyTorch registers for every device and that then ask for the device's own kernel, or refuse devices
// that they do not know. A backend's fallback never sees them, so they are named here: npu runs them as the CPU does.

#include <torch/library.h>

#include "aten/aicpu/fallback.h"

namespace torch_npu {
namespace {

void take(torch::Library& m, std::initializer_list<const char*> names) {
  for (const char* name : names) m.impl(name, torch::CppFunction::makeFromBoxedFunction<&aicpu::fallback>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  take(m, {"convolution", "convolution_backward", "_convolution", "conj_physical_", "mode.values"});
}

}  // namespace
}  // namespace torch_npu
