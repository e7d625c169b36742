#pragma once
// torch_npu._C's functions for device and pinned memory.

#include <torch/csrc/utils/pybind.h>

namespace torch_npu {

void bind_memory(pybind11::module_& m);

}  // namespace torch_npu
