#include "core/graph.h"

#include "bind/runtime.h"
#include "core/stream.h"
#include "core/task_group.h"

namespace torch_npu {
namespace {

namespace py = pybind11;

aclmdlRICaptureMode mode_of(const std::string& name) {
  if (name == "global") return ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  if (name == "thread_local") return ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
  if (name == "relaxed") return ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  TORCH_CHECK_VALUE(false, "capture_error_mode is \"", name, "\": it is \"global\", \"thread_local\" or \"relaxed\"");
}

c10::Stream stream_of(int device, std::int64_t id) { return npu_stream(static_cast<c10::DeviceIndex>(device), id); }

}  // namespace

void bind_graph(py::module_& m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  py::class_<Graph>(m, "_NPUGraph")
      .def(py::init<>())
      .def(
          "capture_begin",
          [](Graph& self, std::optional<c10::MempoolId_t> pool, const std::string& mode) {
            self.capture_begin(pool.value_or(c10::MempoolId_t{0, 0}), mode_of(mode));
          },
          py::arg("pool"), py::arg("capture_error_mode"), release_gil())
      .def("register_generator_state", &Graph::register_generator_state, py::arg("generator"), release_gil())
      .def("capture_end", &Graph::capture_end, release_gil())
      .def("replay", &Graph::replay, release_gil())
      .def("reset", &Graph::reset, release_gil())
      .def("pool", &Graph::pool)
      .def("debug_dump", &Graph::debug_dump, py::arg("debug_path"));
  m.def("graph_pool_handle", &graph_pool_handle);
  py::class_<TaskGroup>(m, "_NPUTaskGroupHandle");
  m.def(
      "graph_task_group_begin", [](int device, std::int64_t id) { begin_task_group(stream_of(device, id)); },
      release_gil());
  m.def(
      "graph_task_group_end", [](int device, std::int64_t id) { return end_task_group(stream_of(device, id)); },
      release_gil());
  m.def(
      "graph_task_update_begin",
      [](int device, std::int64_t id, const TaskGroup& group) { begin_task_update(stream_of(device, id), group); },
      release_gil());
  m.def(
      "graph_task_update_end", [](int device, std::int64_t id) { end_task_update(stream_of(device, id)); },
      release_gil());
  m.def("is_capturing",
        [](int device, std::int64_t id) { return any_capture() && capture_of(stream_of(device, id)) != nullptr; });
}

}  // namespace torch_npu
