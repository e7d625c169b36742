#pragma once

#include <pybind11/pybind11.h>

namespace torch_npu {

// Recordings of the program's lines (core/program_lines.h).
void bind_program_lines(pybind11::module_& m);

}  // namespace torch_npu
