#include "bind/program_lines.h"

#include <pybind11/stl.h>

#include "bind/python_line.h"
#include "core/program_lines.h"

namespace torch_npu {
namespace {

namespace py = pybind11;

// (stacks, launches, waits); a launch is (name, task, begin, end, thread, stack, bytes, content), a wait (begin, end,
// thread, stack).
py::tuple stop_lines() {
  program_lines::Recording recording;
  {
    const py::gil_scoped_release released;  // a thread may wait for Python's lock to tell its lines
    recording = program_lines::stop();
  }
  py::list launches;
  for (const auto& launch : recording.launches) {
    launches.append(py::make_tuple(launch.name, launch.task, launch.begin, launch.end, launch.thread, launch.stack,
                                   launch.bytes, launch.content));
  }
  py::list waits;
  for (const auto& wait : recording.waits) {
    waits.append(py::make_tuple(wait.begin, wait.end, wait.thread, wait.stack));
  }
  return py::make_tuple(recording.stacks, launches, waits);
}

}  // namespace

void bind_program_lines(py::module_& m) {
  program_lines::set_python_stack(&python_stack);
  m.def("start_program_lines", &program_lines::start, py::call_guard<py::gil_scoped_release>());
  m.def("stop_program_lines", &stop_lines);
}

}  // namespace torch_npu
