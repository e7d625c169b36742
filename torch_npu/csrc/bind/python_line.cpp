#include "bind/python_line.h"

#include <pybind11/pybind11.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string_view>

namespace torch_npu {
namespace {

namespace py = pybind11;

std::string folder_of(const char* package) {
  const auto file = py::module_::import(package).attr("__file__").cast<std::string>();
  return std::filesystem::path(file).parent_path().string() + "/";
}

std::string folder_of_libraries() {
  return std::filesystem::path(py::module_::import("os").attr("__file__").cast<std::string>()).parent_path().string() +
         "/";
}

bool is_of_program(std::string_view file) {
  static const auto& others =
      *std::make_unique<std::array<std::string, 2>>(std::array{folder_of("torch"), folder_of("torch_npu")})
           .release();  // used until the end of the process
  // Programs of `python -c` and of notebooks have names in brackets, too.
  const bool is_generated = file.starts_with("<frozen") || file.starts_with("<eval_with_key");
  return !is_generated && !file.starts_with(others[0]) && !file.starts_with(others[1]);
}

// Calls `visit(file, line)` with the program's frames from the innermost one until it returns false.
template <typename Visit>
void for_each_line(Visit visit) {
  if (Py_IsInitialized() == 0) return;
  const py::gil_scoped_acquire gil;
  try {
    auto frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    while (frame) {
      auto* raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
      const auto code = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(raw)));
      const auto file = code.attr("co_filename").cast<std::string>();
      if (is_of_program(file) && !visit(file, PyFrame_GetLineNumber(raw))) return;
      frame = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetBack(raw)));
    }
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("torch_npu looks for the program's line");
  }
}

}  // namespace

std::string python_line() {
  std::string found;
  for_each_line([&](const std::string& file, int line) {
    found = file + ":" + std::to_string(line);
    return false;
  });
  return found;
}

std::string python_stack() {
  constexpr int kMaxLines = 12;
  std::string found;
  int count = 0;
  for_each_line([&](const std::string& file, int line) {
    static const auto& libraries = *std::make_unique<std::string>(folder_of_libraries()).release();
    if (file.starts_with(libraries)) return true;
    if (count != 0) found += '|';
    found += file + ":" + std::to_string(line);
    return ++count < kMaxLines;
  });
  return found;
}

}  // namespace torch_npu
