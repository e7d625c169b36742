#pragma once
// Graphs of softnpu's engine, built node by node by Python.

#include <torch/csrc/utils/pybind.h>

namespace torch_npu {

void bind_built_graphs(pybind11::module_& m);

}  // namespace torch_npu
