#include "bind/built_graph.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/built_graph.h"

namespace torch_npu {
namespace {

namespace py = pybind11;

// Destroyed without the GIL: it waits for the graph's runs.
struct Destroy {
  void operator()(BuiltGraph* graph) const {
    const py::gil_scoped_release no_gil;
    std::unique_ptr<BuiltGraph>(graph).reset();
  }
};

std::vector<int> node(BuiltGraph& self, const std::string& type, const std::string& name,
                      const std::vector<std::pair<int, bool>>& operands, const py::dict& attributes) {
  std::vector<std::pair<std::string, GraphAttribute>> given;
  given.reserve(attributes.size());
  for (const auto& [key, value] : attributes) {
    given.emplace_back(py::cast<std::string>(key), py::cast<GraphAttribute>(value));
  }
  const py::gil_scoped_release no_gil;
  return self.node(type, name, operands, given);
}

py::dict memory(const BuiltGraph& self) {
  const GraphMemory found = self.memory();
  py::dict sizes;
  sizes["work"] = found.work;
  sizes["weights"] = found.weights;
  sizes["parameters"] = found.parameters;
  return sizes;
}

template <BuiltGraph::Kind kind>
int add(BuiltGraph& self, const at::Tensor& tensor) {
  return self.add_value(tensor, kind);
}

}  // namespace

void bind_built_graphs(py::module_& m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  py::class_<BuiltGraph, std::unique_ptr<BuiltGraph, Destroy>>(m, "_BuiltGraph")
      .def(py::init<c10::DeviceIndex>(), py::arg("device"))
      .def("input", &add<BuiltGraph::Kind::kInput>, py::arg("like"))
      .def("parameter", &add<BuiltGraph::Kind::kParameter>, py::arg("tensor"))
      .def("constant", &add<BuiltGraph::Kind::kConstant>, py::arg("tensor"))
      .def("view", &BuiltGraph::view, py::arg("value"), py::arg("sizes"))
      .def("node", &node, py::arg("type"), py::arg("name"), py::arg("operands"), py::arg("attributes"))
      .def("describe", &BuiltGraph::describe, py::arg("value"))
      .def("compile", &BuiltGraph::compile, py::arg("outputs"), release_gil())
      .def("run", &BuiltGraph::run, py::arg("inputs"), py::arg("outputs"), release_gil())
      .def("print", &BuiltGraph::print)
      .def("memory", &memory);
}

}  // namespace torch_npu
