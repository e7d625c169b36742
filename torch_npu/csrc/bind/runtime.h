#pragma once

#include <torch/csrc/utils/pybind.h>

namespace torch_npu {

// Streams, events, core limits and the state of devices.
void bind_runtime(pybind11::module_& m);

// Private pools and allocators of the program.
void bind_graph(pybind11::module_& m);
void bind_mem_pool(pybind11::module_& m);

}  // namespace torch_npu
