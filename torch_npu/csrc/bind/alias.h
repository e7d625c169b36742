#pragma once
// torch_npu._C's function that gives a storage a part of another one's memory.

#include <torch/csrc/utils/pybind.h>

namespace torch_npu {

void bind_alias(pybind11::module_& m);

}  // namespace torch_npu
