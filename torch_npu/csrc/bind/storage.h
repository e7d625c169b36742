#pragma once

#include <torch/csrc/utils/pybind.h>

namespace torch_npu {

// What torch_npu/utils/_storage.py calls.
void bind_storage(pybind11::module_& m);

}  // namespace torch_npu
