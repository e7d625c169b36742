#pragma once
// Generated kernels as Python objects.

#include <torch/csrc/utils/pybind.h>

namespace torch_npu {

void bind_kernels(pybind11::module_& m);

}  // namespace torch_npu
