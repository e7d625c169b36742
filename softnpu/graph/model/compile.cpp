#include "graph/model/compile.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "acl/acl.h"
#include "base/text.h"
#include "graph/ir/print.h"
#include "graph/lower/import.h"
#include "graph/model/om.h"
#include "graph/onnx/model.h"
#include "graph/passes/passes.h"
#include "graph/session/session.h"

namespace softnpu::graph {
namespace {

// The value that "node:index" names, or the name itself.
Status find_output(const onnx::Model& model, const char* option, const std::string& wanted, std::string* out) {
  const size_t colon = wanted.rfind(':');
  const std::string node = wanted.substr(0, colon);
  const std::string index = colon == std::string::npos ? "0" : wanted.substr(colon + 1);
  for (const onnx::NodeDef& one : model.graph.nodes) {
    if (std::ranges::find(one.outputs, wanted) != one.outputs.end()) {
      *out = wanted;
      return Status::ok();
    }
    if (one.name != node) continue;
    const bool is_number =
        !index.empty() && index.size() < 6 && index.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && std::stoul(index) < one.outputs.size()) {
      *out = one.outputs[std::stoul(index)];
      return Status::ok();
    }
    return {ACL_ERROR_INVALID_PARAM,
            text(option, ": node ", node, " has ", one.outputs.size(), " outputs, not ", index)};
  }
  return {ACL_ERROR_INVALID_PARAM, text(option, ": the model has no node ", node)};
}

// A device for the time of a compilation.
class Device {
 public:
  // Keeps the current device.
  Status open_if_none() {
    aclrtContext context = nullptr;
    return aclrtGetCurrentContext(&context) == ACL_SUCCESS ? Status::ok() : open();
  }
  Status open() {
    const aclError code = aclInit(nullptr);
    if (code != ACL_ERROR_REPEAT_INITIALIZE) SOFTNPU_RETURN_IF_ERROR(status_of(code));
    SOFTNPU_RETURN_IF_ERROR(status_of(aclrtSetDevice(0)));
    is_open_ = true;
    return Status::ok();
  }
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    if (is_open_) (void)aclrtResetDevice(0);
  }

 private:
  bool is_open_ = false;
};

Status try_session(const std::shared_ptr<const Graph>& graph) {
  std::unique_ptr<Session> session;
  SOFTNPU_RETURN_IF_ERROR(Session::create(graph, {}, &session));
  return session->try_plan();
}

Status try_graph(const onnx::Model& model, const ImportOptions& import, const PassOptions& passes, Graph* out,
                 CompileReport* report) {
  auto graph = std::make_shared<Graph>();
  SOFTNPU_RETURN_IF_ERROR(import_model(model, import, graph.get()));
  SOFTNPU_RETURN_IF_ERROR(run_passes(passes, graph.get()));
  SOFTNPU_RETURN_IF_ERROR(try_session(graph));
  const MemoryPlan memory = plan_memory(*graph);
  report->operators = std::max(report->operators, graph->nodes.size());
  report->work_bytes = std::max(report->work_bytes, memory.work_bytes);
  report->weight_bytes = std::max(report->weight_bytes, memory.weight_bytes);
  *out = *graph;
  return Status::ok();
}

// Every entry of the list is tried. Without a list a run's sizes are not known before.
Status try_source(const onnx::Model& model, const Source& source, const PassOptions& passes, CompileReport* report) {
  SOFTNPU_RETURN_IF_ERROR(check_operators(model));
  const std::vector<OpenTensor> inputs = inputs_of(model, source);
  SOFTNPU_RETURN_IF_ERROR(check_input_sizes(model, source.import.input_sizes));
  for (const Ints& entry : source.list) {
    std::vector<Ints> sizes;
    Graph graph;
    SOFTNPU_RETURN_IF_ERROR(sizes_for(inputs, source.kind, entry, &sizes));
    ImportOptions import = source.import;
    for (size_t i = 0; i < inputs.size(); ++i) import.input_sizes[inputs[i].name] = sizes[i];
    SOFTNPU_RETURN_IF_ERROR(try_graph(model, import, passes, &graph, report));
  }
  return Status::ok();
}

Status import_options(const onnx::Model& model, const CompileOptions& options, ImportOptions* out) {
  out->input_sizes = options.input_sizes;
  out->output_dtype = options.output_dtype;
  out->allows_hf32 = options.allows_hf32;
  for (const std::string& wanted : options.outputs) {
    SOFTNPU_RETURN_IF_ERROR(find_output(model, "--out_nodes", wanted, &out->outputs.emplace_back()));
  }
  for (const auto& [wanted, dtype] : options.output_dtypes) {
    std::string name;
    SOFTNPU_RETURN_IF_ERROR(find_output(model, "--output_type", wanted, &name));
    out->output_dtypes[name] = dtype;
  }
  if (options.aipp.empty()) return Status::ok();
  std::ifstream file(options.aipp);
  if (!file.is_open()) return {ACL_ERROR_INVALID_FILE, text("--insert_op_conf: ", options.aipp, " cannot be read")};
  const std::string words(std::istreambuf_iterator<char>(file), {});
  return read_aipp(words, &out->aipps);
}

// Needs a current device. `whole` and `external` are what the model was read from.
Status compile(const onnx::Model& model, const Bytes& whole, onnx::ExternalData external, const CompileOptions& options,
               CompileReport* report, std::string* om) {
  SOFTNPU_RETURN_IF_ERROR(check_names(options.passes_off));
  ImportOptions import;
  SOFTNPU_RETURN_IF_ERROR(import_options(model, options, &import));
  const auto has_open = [](const auto& one) { return std::ranges::find(one.second, -1) != one.second.end(); };
  PassOptions passes{options.passes_off, {}};
  if (options.dump) {
    passes.dump = [&](std::string_view pass, const Graph& graph) { options.dump(pass, print(graph)); };
  }
  CompiledModel compiled;
  Status status;
  if (std::ranges::any_of(options.input_sizes, has_open)) {
    if (!import.aipps.empty()) return {ACL_ERROR_INVALID_PARAM, "--insert_op_conf needs fixed sizes of all inputs"};
    compiled.source =
        Source{whole, std::move(external), std::move(import), options.passes_off, options.list_kind, options.list};
    status = try_source(model, *compiled.source, passes, report);
  } else {
    status = options.list.empty()
                 ? try_graph(model, import, passes, &compiled.graph, report)
                 : Status(ACL_ERROR_INVALID_PARAM, "a list of sizes needs open sizes: -1 in --input_shape");
  }
  if (!status.is_ok()) return {status.code(), text(options.model, ": ", status.message())};
  report->nodes = model.graph.nodes.size();
  *om = write_om(compiled);
  return Status::ok();
}

Status write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file.good()) return Status::ok();
  return {ACL_ERROR_WRITE_FILE, text("the file ", path, " cannot be written")};
}

}  // namespace

Status compile_bytes(const void* bytes, size_t size, std::string* out) {
  onnx::Model model;
  SOFTNPU_RETURN_IF_ERROR(onnx::read_model({static_cast<const char*>(bytes), size}, nullptr, {}, &model));
  auto graph = std::make_shared<Graph>();
  SOFTNPU_RETURN_IF_ERROR(import_model(model, {}, graph.get()));
  SOFTNPU_RETURN_IF_ERROR(run_passes({}, graph.get()));
  SOFTNPU_RETURN_IF_ERROR(try_session(graph));
  *out = write_om({std::move(*graph), {}, {}});
  return Status::ok();
}

Status check_model_bytes(std::string_view onnx) {
  onnx::Model model;
  SOFTNPU_RETURN_IF_ERROR(onnx::read_model(onnx, nullptr, {}, &model));
  return check_operators(model);
}

Status compile_model_bytes(std::string_view onnx, const CompileOptions& options, CompileReport* report,
                           std::string* om) {
  const Bytes whole = copy_bytes(onnx.data(), onnx.size());
  onnx::Model model;
  SOFTNPU_RETURN_IF_ERROR(onnx::read_model({whole.data, whole.size}, whole.owner, {}, &model));
  Device device;
  SOFTNPU_RETURN_IF_ERROR(device.open_if_none());
  return compile(model, whole, {}, options, report, om);
}

Status compile_model(const CompileOptions& options, CompileReport* report) {
  onnx::Model model;
  Bytes whole;
  onnx::ExternalData external;
  SOFTNPU_RETURN_IF_ERROR(onnx::read_model_file(options.model, &model, &whole, &external));
  Device device;
  SOFTNPU_RETURN_IF_ERROR(device.open());
  std::string om;
  SOFTNPU_RETURN_IF_ERROR(compile(model, whole, std::move(external), options, report, &om));
  return write_file(options.output, om);
}

}  // namespace softnpu::graph
