#include "graph/onnxruntime/provider.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/text.h"
#include "graph/onnxruntime/compiled.h"
#include "graph/onnxruntime/model.h"

namespace softnpu::graph::ort {
namespace {

std::string lower_case(std::string words) {
  std::ranges::transform(words, words.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return words;
}

std::vector<const OrtValueInfo*> given(std::vector<const OrtValueInfo*> values) {
  std::erase(values, nullptr);
  return values;
}

std::unique_ptr<CompiledNode> compiled(const Api& api, const OrtGraph* graph, const OrtNode* fused) {
  const std::vector<const OrtNode*> nodes = api.list(graph_node_count, graph_nodes, graph);
  // In the order in which the fused node has them.
  const onnx::Model model =
      model_of(api, graph, nodes, api.list(node_output_count, node_outputs, fused), /*copies=*/true);
  std::vector<std::string> names;
  for (const OrtValueInfo* input : api.list(node_input_count, node_inputs, fused)) {
    names.push_back(name_of(api, input));
  }
  std::vector<size_t> numbers;
  for (const onnx::ValueInfo& input : model.graph.inputs) {
    const auto found = std::ranges::find(names, input.name);
    if (found == names.end()) throw Failure(text("the fused node has no input ", input.name));
    numbers.push_back(static_cast<size_t>(found - names.begin()));
  }
  return std::make_unique<CompiledNode>(api, compile(model), std::move(numbers));
}

}  // namespace

Provider::Provider(const Api& api, const OrtSessionOptions* options, const OrtLogger* logger)
    : OrtEp{}, api_(api), logger_(logger) {
  read_options(options);
  use_device();
  version = kApiVersion;
  get_name = [](const OrtEp*) { return kProviderName; };
  get_capability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* support) -> OrtStatus* {
    const auto* provider = static_cast<Provider*>(self);
    return provider->api_.guarded([&] { provider->take_nodes(graph, support); });
  };
  OrtEp::compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** fused, size_t count,
                      OrtNodeComputeInfo** out, OrtNode** /*contexts*/) -> OrtStatus* {
    const auto* provider = static_cast<Provider*>(self);
    return provider->api_.guarded([&] {
      use_device();
      std::vector<std::unique_ptr<CompiledNode>> nodes;
      for (size_t i = 0; i < count; ++i) nodes.push_back(compiled(provider->api_, graphs[i], fused[i]));
      for (size_t i = 0; i < count; ++i) out[i] = nodes[i].release();
    });
  };
  release_node_compute_infos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
    for (size_t i = 0; i < count; ++i) std::unique_ptr<CompiledNode>(static_cast<CompiledNode*>(infos[i])).reset();
  };
}

void Provider::read_options(const OrtSessionOptions* options) {
  const std::string prefix = lower_case(text("ep.", kProviderName, "."));
  const std::unique_ptr<OrtKeyValuePairs, void (*)(OrtKeyValuePairs*)> entries(api_.get(session_entries, options),
                                                                               api_(release_pairs));
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  api_(pairs)(entries.get(), &keys, &values, &count);
  for (size_t i = 0; i < count; ++i) {
    const std::string key = keys[i];
    if (!lower_case(key).starts_with(prefix)) continue;
    const std::string name = key.substr(prefix.size());
    const std::string value = values[i];
    if (name != "softnpu.explain" || (value != "0" && value != "1")) {
      throw Failure(text(kProviderName, ": the option ", name, "=", value,
                         " is not known; there is softnpu.explain: 0, or 1 to log why nodes stay on the CPU"));
    }
    explains_ = value == "1";
  }
}

void Provider::log(int severity, const std::string& message) const {
  api_.check(api_(log_message)(logger_, severity, message.c_str(), __FILE__, __LINE__, kProviderName));
}

std::string Provider::reason_against(const OrtGraph* graph, const OrtNode* node) const {
  try {
    const onnx::Model model =
        model_of(api_, graph, {node}, given(api_.list(node_output_count, node_outputs, node)), /*copies=*/false);
    (void)ort::compile(model);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// A node's stage counts the changes from the CPU to the provider on the longest way to it. Nodes of one stage that the
// provider takes have no other node between them, so each stage is one fused node.
void Provider::take_nodes(const OrtGraph* graph, OrtEpGraphSupportInfo* support) const {
  if (api_.get(graph_parent, graph) != nullptr) return;
  use_device();
  struct Source {
    size_t stage;
    bool is_taken;
  };
  std::map<std::string, Source> sources;
  std::map<size_t, std::vector<const OrtNode*>> stages;
  const std::vector<const OrtNode*> nodes = api_.list(graph_node_count, graph_nodes, graph);
  size_t taken = 0;
  for (const OrtNode* node : nodes) {
    const std::string reason = reason_against(graph, node);
    const bool is_taken = reason.empty();
    size_t stage = 0;
    std::vector<const OrtValueInfo*> inputs = given(api_.list(node_input_count, node_inputs, node));
    const std::vector<const OrtValueInfo*> implicit = given(api_.list(node_implicit_count, node_implicit_inputs, node));
    inputs.insert(inputs.end(), implicit.begin(), implicit.end());
    for (const OrtValueInfo* input : inputs) {
      const auto source = sources.find(name_of(api_, input));
      if (source == sources.end()) continue;
      stage = std::max(stage, source->second.stage + (is_taken && !source->second.is_taken ? 1 : 0));
    }
    for (const OrtValueInfo* output : given(api_.list(node_output_count, node_outputs, node))) {
      sources[name_of(api_, output)] = {stage, is_taken};
    }
    if (is_taken) {
      stages[stage].push_back(node);
      ++taken;
      continue;
    }
    log(explains_ ? kWarning : kInfo,
        text("node ", api_.get(node_name, node), " (", api_.get(node_type, node), ") stays on the CPU: ", reason));
  }
  log(explains_ ? kWarning : kInfo,
      text("takes ", taken, " of ", nodes.size(), " nodes in ", stages.size(), " graphs"));
  const Api providers = api_.providers();
  const OrtNodeFusionOptions fusion{kApiVersion, true};
  for (const auto& [stage, members] : stages) {
    api_.check(providers(add_nodes_to_fuse)(support, members.data(), members.size(), &fusion));
  }
}

}  // namespace softnpu::graph::ort
