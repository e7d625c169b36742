#pragma once
// Python stacks. torch 2.13 declares these in torch/csrc/profiler/python/combined_traceback.h, which also includes
// nlohmann/json.hpp, a header that the torch wheel does not ship.

#include <torch/csrc/profiler/combined_traceback.h>
#include <torch/csrc/utils/pybind.h>

#include <vector>

namespace torch {

TORCH_API std::vector<pybind11::object> py_symbolize(std::vector<CapturedTraceback*>& to_symbolize);
TORCH_PYTHON_API void installCapturedTracebackPython();

}  // namespace torch
