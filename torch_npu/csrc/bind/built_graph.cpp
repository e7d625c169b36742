#include "bind/built_graph.h"

#include <acl/acl.h>
#include <dlfcn.h>
#include <softnpu/graph_builder.h>

#include <string>
#include <utility>
#include <vector>

#include "core/acl.h"
#include "core/aclnn_argument.h"
#include "core/device.h"
#include "core/format.h"
#include "core/stream.h"
#include "core/trace.h"

namespace torch_npu {
namespace {

namespace py = pybind11;

const softnpuGraphBuilder& builder() {
  static const softnpuGraphBuilder* found = [] {
    const bool is_softnpu = bound_symbol("softnpuVersion") != nullptr;
    // By the path that this library has for others of the package.
    void* library = is_softnpu ? dlopen("libsoftnpu_graph.so", RTLD_NOW | RTLD_LOCAL) : nullptr;
    void* function = library == nullptr ? nullptr : dlsym(library, "softnpuGetGraphBuilder");
    return function == nullptr ? nullptr : reinterpret_cast<decltype(&softnpuGetGraphBuilder)>(function)();
  }();
  TORCH_CHECK(found != nullptr,
              "the graph engine is softnpu's: the bound CANN is another one, or libsoftnpu_graph.so does not load");
  return *found;
}

// A ValueError with the engine's sentence: it does not take what it was given.
void check(aclError code) {
  if (C10_LIKELY(code == ACL_SUCCESS)) return;
  const char* reason = aclGetRecentErrMsg();
  TORCH_CHECK_VALUE(false, reason == nullptr ? "the graph engine failed" : reason);
}

softnpuBuffer bytes_at(const at::Tensor& tensor, c10::DeviceIndex device, bool is_written) {
  TORCH_CHECK_VALUE(tensor.is_privateuseone() && tensor.device().index() == device && tensor.is_contiguous(),
                    "the graph is for contiguous tensors on ", npu_device(device), ", not one on ", tensor.device(),
                    " of sizes ", tensor.sizes(), " and strides ", tensor.strides());
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  void* base = is_written ? mutable_bytes_of(storage, BytesLayout::kPlain)
                          : const_cast<void*>(bytes_of(storage, BytesLayout::kPlain));
  if (tensor.numel() == 0) return {base, 0};
  return {static_cast<char*>(base) + static_cast<std::size_t>(tensor.storage_offset()) * tensor.itemsize(),
          tensor.nbytes()};
}

aclDataType dtype_of(const at::Tensor& tensor) {
  const aclDataType dtype = acl_data_type(tensor.scalar_type());
  TORCH_CHECK_VALUE(dtype != ACL_DT_UNDEFINED, "the graph engine does not have the data type ", tensor.scalar_type());
  return dtype;
}

// Attributes refer to the objects of Python, which must live as long.
class Attributes {
 public:
  explicit Attributes(const py::dict& given) {
    lists_.reserve(given.size());
    names_.reserve(2 * given.size());
    for (const auto& [key, value] : given) {
      softnpuGraphAttribute one{};
      one.name = names_.emplace_back(py::cast<std::string>(key)).c_str();
      if (py::isinstance<py::bool_>(value)) {
        one.kind = SOFTNPU_ATTRIBUTE_BOOL;
        one.integer = py::cast<bool>(value) ? 1 : 0;
      } else if (py::isinstance<py::int_>(value)) {
        one.kind = SOFTNPU_ATTRIBUTE_INTEGER;
        one.integer = py::cast<std::int64_t>(value);
      } else if (py::isinstance<py::float_>(value)) {
        one.kind = SOFTNPU_ATTRIBUTE_REAL;
        one.real = py::cast<double>(value);
      } else if (py::isinstance<py::str>(value)) {
        one.kind = SOFTNPU_ATTRIBUTE_WORDS;
        one.words = names_.emplace_back(py::cast<std::string>(value)).c_str();
      } else {
        const auto& list = lists_.emplace_back(py::cast<std::vector<std::int64_t>>(value));
        one.kind = SOFTNPU_ATTRIBUTE_LIST;
        one.list = list.data();
        one.count = list.size();
      }
      attributes_.push_back(one);
    }
  }
  const std::vector<softnpuGraphAttribute>& get() const { return attributes_; }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<std::int64_t>> lists_;
  std::vector<softnpuGraphAttribute> attributes_;
};

// A graph while it is built, then compiled.
class BuiltGraph {
 public:
  explicit BuiltGraph(int device) : device_(checked_device(static_cast<c10::DeviceIndex>(device))) {
    bind_device(device_);
    check(builder().create(&graph_));
  }
  BuiltGraph(const BuiltGraph&) = delete;
  BuiltGraph& operator=(const BuiltGraph&) = delete;
  ~BuiltGraph() {
    if (in_bad_fork()) return;
    const py::gil_scoped_release no_gil;
    builder().destroy(graph_);
  }

  int add_value(const at::Tensor& tensor, int kind) {
    bind_device(device_);
    softnpuBuffer bytes{nullptr, 0};
    if (kind == SOFTNPU_VALUE_PARAMETER) bytes = bytes_at(tensor, device_, false);
    if (kind == SOFTNPU_VALUE_CONSTANT) {
      TORCH_CHECK_VALUE(tensor.is_cpu() && tensor.is_contiguous(), "a constant is a contiguous tensor on the CPU");
      bytes = {const_cast<void*>(tensor.const_data_ptr()), tensor.nbytes()};
    }
    const softnpuGraphValue value{kind, dtype_of(tensor), {tensor.sizes().data(), tensor.sizes().size()}, bytes};
    int32_t id = 0;
    check(builder().addValue(graph_, &value, &id));
    return id;
  }

  int view(int value, const std::vector<std::int64_t>& sizes) {
    bind_device(device_);
    const softnpuSizes given{sizes.data(), sizes.size()};
    int32_t id = 0;
    check(builder().addView(graph_, value, &given, &id));
    return id;
  }

  std::vector<int> node(const std::string& type, const std::string& name,
                        const std::vector<std::pair<int, bool>>& operands, const py::dict& attributes) {
    bind_device(device_);
    std::vector<softnpuGraphOperand> inputs;
    inputs.reserve(operands.size());
    for (const auto& [value, on_host] : operands) inputs.push_back({value, on_host ? 1 : 0});
    const Attributes given(attributes);
    const softnpuGraphNode node{type.c_str(),  name.c_str(),       inputs.data(),
                                inputs.size(), given.get().data(), given.get().size()};
    std::vector<int> results;
    const auto report = [](void* state, int32_t id) { static_cast<std::vector<int>*>(state)->push_back(id); };
    const py::gil_scoped_release no_gil;
    check(builder().addNode(graph_, &node, report, &results));
    return results;
  }

  // The number of the value's aclDataType, and its sizes.
  std::pair<int, std::vector<std::int64_t>> describe(int value) const {
    softnpuModelTensor tensor{};
    check(builder().describe(graph_, value, &tensor));
    return {static_cast<int>(tensor.dtype), {tensor.dims, tensor.dims + tensor.rank}};
  }

  void compile(const std::vector<int>& outputs) {
    bind_device(device_);
    const std::vector<int32_t> ids(outputs.begin(), outputs.end());
    const py::gil_scoped_release no_gil;
    check(builder().compile(graph_, ids.data(), ids.size(), 0));
  }

  // Launches the graph on the current stream.
  void run(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs) {
    bind_device(device_);
    std::vector<softnpuBuffer> in;
    std::vector<softnpuBuffer> out;
    in.reserve(inputs.size());
    out.reserve(outputs.size());
    for (const at::Tensor& one : inputs) in.push_back(bytes_at(one, device_, false));
    for (const at::Tensor& one : outputs) out.push_back(bytes_at(one, device_, true));
    const py::gil_scoped_release no_gil;
    const c10::Stream stream = current_stream(device_);
    const Enqueue enqueue(stream);
    const trace::Launch traced("npugraph_ex", trace::Kind::kKernel, stream);
    check(builder().run(graph_, in.data(), in.size(), out.data(), out.size(), enqueue.handle()));
  }

  std::string print() const { return builder().print(graph_); }

  py::dict memory() const {
    softnpuGraphMemory found{};
    builder().memory(graph_, &found);
    py::dict sizes;
    sizes["work"] = found.work;
    sizes["weights"] = found.weights;
    sizes["parameters"] = found.parameters;
    return sizes;
  }

 private:
  c10::DeviceIndex device_;
  softnpuBuiltGraph* graph_ = nullptr;
};

}  // namespace

void bind_built_graphs(py::module_& m) {
  py::class_<BuiltGraph>(m, "_BuiltGraph")
      .def(py::init<int>(), py::arg("device"))
      .def(
          "input", [](BuiltGraph& self, const at::Tensor& like) { return self.add_value(like, SOFTNPU_VALUE_INPUT); },
          py::arg("like"))
      .def(
          "parameter",
          [](BuiltGraph& self, const at::Tensor& tensor) { return self.add_value(tensor, SOFTNPU_VALUE_PARAMETER); },
          py::arg("tensor"))
      .def(
          "constant",
          [](BuiltGraph& self, const at::Tensor& tensor) { return self.add_value(tensor, SOFTNPU_VALUE_CONSTANT); },
          py::arg("tensor"))
      .def("view", &BuiltGraph::view, py::arg("value"), py::arg("sizes"))
      .def("node", &BuiltGraph::node, py::arg("type"), py::arg("name"), py::arg("operands"), py::arg("attributes"))
      .def("describe", &BuiltGraph::describe, py::arg("value"))
      .def("compile", &BuiltGraph::compile, py::arg("outputs"))
      .def("run", &BuiltGraph::run, py::arg("inputs"), py::arg("outputs"))
      .def("print", &BuiltGraph::print)
      .def("memory", &BuiltGraph::memory);
}

}  // namespace torch_npu
