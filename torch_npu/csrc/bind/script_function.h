#pragma once
// torch_npu._C's function for the passes over TorchScript graphs.

#include <torch/csrc/utils/pybind.h>

namespace torch_npu {

void bind_script_function(pybind11::module_& m);

}  // namespace torch_npu
