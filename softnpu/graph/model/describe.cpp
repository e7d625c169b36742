#include "graph/model/describe.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.h"
#include "graph/ir/print.h"
#include "graph/lower/import.h"
#include "graph/model/description.h"
#include "graph/model/loaded.h"
#include "graph/model/om.h"
#include "graph/onnx/model.h"
#include "graph/session/memory_plan.h"

namespace softnpu::graph {
namespace {

std::string quoted(std::string_view words) {
  std::string result = "\"";
  for (const char c : words) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      result += code;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

// The elements of a list, each made by `show`.
template <typename List, typename Show>
std::string listed(const List& list, const Show& show) {
  std::string result = "[";
  for (const auto& one : list) result += (result.size() == 1 ? "" : ", ") + show(one);
  return result + "]";
}

std::string numbers(const Ints& values) {
  return listed(values, [](int64_t value) { return text(value); });
}

std::string strings(const std::vector<std::string>& values) {
  return listed(values, [](const std::string& value) { return quoted(value); });
}

Status read_compiled(const std::string& path, CompiledModel* out, size_t* size) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return {ACL_ERROR_INVALID_FILE, text("the model ", path, " cannot be read")};
  auto bytes = std::make_shared<std::string>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  *size = bytes->size();
  const std::string_view view = *bytes;
  Status status = read_om(view, std::move(bytes), out);
  if (status.is_ok() && out->description.has_value()) status = graph_of(*out->description, &out->graph);
  return status.is_ok() ? Status::ok() : Status(status.code(), text(path, ": ", status.message()));
}

std::vector<OpenTensor> tensors_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<OpenTensor> tensors;
  for (const ValueId id : ids) {
    const Value& value = graph.values[id];
    tensors.push_back({value.name, value.dtype, {value.dims.begin(), value.dims.end()}});
  }
  return tensors;
}

struct Tensors {
  std::vector<OpenTensor> inputs;
  std::vector<OpenTensor> outputs;
  std::string list;  // of sizes, one entry after the other
};

Status find_tensors(const CompiledModel& compiled, Tensors* out) {
  if (!compiled.source.has_value()) {
    *out = {tensors_of(compiled.graph, compiled.graph.inputs), tensors_of(compiled.graph, compiled.graph.outputs), ""};
    return Status::ok();
  }
  onnx::Model model;
  const Source& source = *compiled.source;
  SOFTNPU_RETURN_IF_ERROR(read_model(source, &model));
  *out = {inputs_of(model, source), outputs_of(model, source), listed(source.list, numbers)};
  return Status::ok();
}

std::string json_of(const OpenTensor& tensor) {
  return text("{\"name\": ", quoted(tensor.name), ", \"dtype\": ", quoted(dtype_name(tensor.dtype)),
              ", \"shape\": ", numbers(tensor.sizes), "}");
}

std::string json_of(const Graph& graph, const Node& node) {
  const auto operand = [&](const Operand& input) {
    return input.value == kNoValue ? std::string("null") : quoted(graph.values[input.value].name);
  };
  std::vector<OpenTensor> outputs = tensors_of(graph, node.outputs);
  return text("{\"type\": ", quoted(node.type), ", \"name\": ", quoted(node.name),
              ", \"inputs\": ", listed(node.inputs, operand),
              ", \"outputs\": ", listed(outputs, [](const OpenTensor& one) { return json_of(one); }), "}");
}

std::string json_of(const onnx::NodeDef& node) {
  return text("{\"type\": ", quoted(node.type), ", \"domain\": ", quoted(node.domain),
              ", \"name\": ", quoted(node.name), ", \"inputs\": ", strings(node.inputs),
              ", \"outputs\": ", strings(node.outputs), "}");
}

std::string json_of(const onnx::ValueInfo& info) {
  return text("{\"name\": ", quoted(info.name), ", \"dtype\": ", quoted(onnx::name_of(info.dtype)),
              ", \"shape\": ", numbers(info.dims), "}");
}

std::string json_of(const onnx::Model& model) {
  const auto info = [](const onnx::ValueInfo& one) { return json_of(one); };
  return text("{\"name\": ", quoted(model.graph.name), ", \"inputs\": ", listed(model.graph.inputs, info),
              ", \"outputs\": ", listed(model.graph.outputs, info), ",\n \"nodes\": ",
              listed(model.graph.nodes, [](const onnx::NodeDef& node) { return "\n  " + json_of(node); }), "}\n");
}

}  // namespace

Status describe_compiled(const std::string& path, std::string* out) {
  CompiledModel compiled;
  size_t size = 0;
  Tensors tensors;
  SOFTNPU_RETURN_IF_ERROR(read_compiled(path, &compiled, &size));
  SOFTNPU_RETURN_IF_ERROR(find_tensors(compiled, &tensors));
  const auto shown = [](const OpenTensor& one) {
    return text(one.name, ": ", dtype_name(one.dtype), numbers(one.sizes));
  };
  *out = text("file: ", path, ", ", size, " bytes, of softnpu\n");
  if (compiled.source.has_value()) {
    *out += text("kept as ONNX, since its sizes are open (-1): ", compiled.source->onnx.size, " bytes\n");
    if (!compiled.source->list.empty()) *out += text("list of sizes: ", tensors.list, "\n");
  } else {
    const MemoryPlan memory = plan_memory(compiled.graph);
    *out += text("model: ", compiled.graph.name, ", ", compiled.graph.nodes.size(), " operators\n",
                 "device memory: ", memory.weight_bytes, " bytes of weights, ", memory.work_bytes, " of work memory\n");
  }
  for (const OpenTensor& one : tensors.inputs) *out += text("input ", shown(one), "\n");
  for (const OpenTensor& one : tensors.outputs) *out += text("output ", shown(one), "\n");
  return Status::ok();
}

Status model_as_json(const std::string& path, std::string* json) {
  if (!path.ends_with(".om")) {
    onnx::Model model;
    SOFTNPU_RETURN_IF_ERROR(onnx::read_model_file(path, &model));
    *json = json_of(model);
    return Status::ok();
  }
  CompiledModel compiled;
  size_t size = 0;
  SOFTNPU_RETURN_IF_ERROR(read_compiled(path, &compiled, &size));
  if (compiled.source.has_value()) {
    onnx::Model model;
    SOFTNPU_RETURN_IF_ERROR(read_model(*compiled.source, &model));
    *json = json_of(model);
    return Status::ok();
  }
  const Graph& graph = compiled.graph;
  const auto tensor = [](const OpenTensor& one) { return json_of(one); };
  *json = text("{\"name\": ", quoted(graph.name), ", \"inputs\": ", listed(tensors_of(graph, graph.inputs), tensor),
               ", \"outputs\": ", listed(tensors_of(graph, graph.outputs), tensor),
               ",\n \"nodes\": ", listed(graph.nodes, [&](const Node& node) { return "\n  " + json_of(graph, node); }),
               "}\n");
  return Status::ok();
}

Status check_model(const std::string& path, std::string* json, bool* is_complete) {
  onnx::Model model;
  SOFTNPU_RETURN_IF_ERROR(onnx::read_model_file(path, &model));
  std::map<std::pair<std::string, std::string>, size_t> counts;
  for (const onnx::NodeDef& node : model.graph.nodes) ++counts[{node.domain, node.type}];
  const Status status = check_operators(model);
  *is_complete = status.is_ok();
  const auto row = [&](const auto& one) {
    const auto& [key, count] = one;
    return text("\n  {\"domain\": ", quoted(key.first), ", \"type\": ", quoted(key.second), ", \"nodes\": ", count,
                "}");
  };
  *json = text("{\"result\": ", quoted(*is_complete ? "success" : "failed"),
               ", \"reason\": ", quoted(*is_complete ? "" : status.message()),
               ",\n \"operators\": ", listed(counts, row), "}\n");
  return Status::ok();
}

}  // namespace softnpu::graph
