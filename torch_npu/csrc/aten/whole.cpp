// Composite operators that run as one CPU kernel: decomposing them on the device would end in operators that only
// some devices have.

#include <torch/library.h>

#include "aten/aicpu/fallback.h"

namespace torch_npu {
namespace {

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  for (const char* name : {"convolution", "convolution_backward", "_convolution"}) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&aicpu::fallback>());
  }
}

}  // namespace
}  // namespace torch_npu
