#pragma once
// torch_npu._C's functions for storages that processes share.

#include <torch/csrc/utils/pybind.h>

namespace torch_npu {

void bind_sharing(pybind11::module_& m);

}  // namespace torch_npu
