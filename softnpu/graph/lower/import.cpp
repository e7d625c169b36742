#include "graph/lower/import.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/text.h"

namespace softnpu::graph {
namespace {

constexpr int kMaxNesting = 32;
constexpr int64_t kMaxOpset = 23;  // of ai.onnx

std::string described(const onnx::NodeDef& node) {
  return text("node ", node.name.empty() ? "\"\"" : node.name, " (", node.domain.empty() ? "" : node.domain + ".",
              node.type, node.outputs.empty() ? "" : " -> " + node.outputs[0], ")");
}

std::string shown(const onnx::ValueInfo& info) {
  std::string sizes;
  for (size_t i = 0; i < info.dims.size(); ++i) {
    if (i > 0) sizes += ",";
    sizes += info.dims[i] >= 0 ? text(info.dims[i]) : info.names[i].empty() ? "?" : info.names[i];
  }
  return text(info.name, ":", sizes, " (", onnx::name_of(info.dtype), ")");
}

// Sets the permission in all nodes whose operators have it.
void allow_hf32(Graph* graph) {
  for (Node& node : graph->nodes) {
    const bool has_permission =
        node.type == "Conv2D" || node.type == "Conv3D" || node.type == "MatMulV2" || node.type == "BatchMatMulV2";
    if (!has_permission || graph->values[node.outputs[0]].dtype != ACL_FLOAT) continue;
    auto attributes = std::make_shared<aclopAttr>(*node.attributes);
    attributes->values["allow_hf32"] = true;
    node.attributes = std::move(attributes);
  }
}

// Calls `visit` for all nodes, also those of graphs in attributes.
template <typename Visit>
void for_each_node(const std::vector<onnx::NodeDef>& nodes, const Visit& visit) {
  for (const onnx::NodeDef& node : nodes) {
    visit(node);
    for (const onnx::Attribute& attribute : node.attributes) {
      if (attribute.graph != nullptr) for_each_node(attribute.graph->nodes, visit);
    }
  }
}

}  // namespace

aclDataType ImportOptions::dtype_of_output(const std::string& name) const {
  const auto found = output_dtypes.find(name);
  return found == output_dtypes.end() ? output_dtype : found->second;
}

const ValueId* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
    const auto found = scope->values.find(name);
    if (found != scope->values.end()) return &found->second;
  }
  return nullptr;
}

const onnx::FunctionDef* Importer::find_function(const onnx::NodeDef& node) const {
  const auto found = std::ranges::find_if(model_.functions, [&](const onnx::FunctionDef& one) {
    return one.name == node.type && one.domain == node.domain;
  });
  return found == model_.functions.end() ? nullptr : &*found;
}

void Importer::check_operators() const {
  const auto own = model_.opsets.find("");
  if (own != model_.opsets.end() && own->second > kMaxOpset) {
    throw Refused(text("the model has opset ", own->second, " of ai.onnx; opsets up to ", kMaxOpset,
                       " are implemented: export it with an older one"));
  }
  std::map<std::pair<std::string, std::string>, size_t> missing;
  const auto look = [&](const onnx::NodeDef& node) {
    if (find_function(node) == nullptr && find_lower(node.domain, node.type) == nullptr) {
      ++missing[{node.domain, node.type}];
    }
  };
  for_each_node(model_.graph.nodes, look);
  for (const onnx::FunctionDef& function : model_.functions) for_each_node(function.nodes, look);
  if (missing.empty()) return;
  std::string list;
  for (const auto& [key, count] : missing) {
    const auto& [domain, type] = key;
    const auto opset = model_.opsets.find(domain);
    list += text(list.empty() ? "" : ", ", domain.empty() ? "ai.onnx" : domain, ".", type, " (version ",
                 opset == model_.opsets.end() ? 0 : opset->second, ", ", count, count == 1 ? " node)" : " nodes)");
  }
  throw Refused(text("operators that are not implemented: ", list));
}

void Importer::add_initializers(const onnx::GraphDef& graph, Scope* scope) {
  for (const onnx::Tensor& tensor : graph.initializers) {
    const ValueId id =
        builder_.constant(onnx::dtype_of(tensor.dtype), {tensor.dims.begin(), tensor.dims.end()}, tensor.bytes);
    builder_.graph().values[id].name = tensor.name;
    scope->values[tensor.name] = id;
  }
}

void Importer::add_inputs(const ImportOptions& options, Scope* scope) {
  const std::string inputs = list_inputs(model_);
  if (const Status fits = check_input_sizes(model_, options.input_sizes); !fits.is_ok()) throw Refused(fits.message());
  size_t number = 0;
  for (const onnx::ValueInfo& info : model_.graph.inputs) {
    if (scope->values.contains(info.name)) continue;  // an initializer that could be overridden
    Value value;
    value.name = info.name;
    value.kind = ValueKind::kInput;
    value.dtype = onnx::dtype_of(info.dtype);
    if (!info.is_tensor || value.dtype == ACL_DT_UNDEFINED) {
      throw Refused(text("the input ", info.name, " is ", info.is_tensor ? onnx::name_of(info.dtype) : "no tensor",
                         ": operators do not have this type"));
    }
    const auto given = options.input_sizes.find(info.name);
    const bool is_given = given != options.input_sizes.end();
    const Ints sizes = is_given ? given->second : info.dims;
    if ((!is_given && !info.has_shape) || std::ranges::any_of(sizes, [](int64_t size) { return size < 0; })) {
      throw Refused(text("the sizes of the input ", info.name,
                         " are open: give them as --input_shape=\"name:sizes\"; the model's inputs are ", inputs));
    }
    const auto aipp = std::ranges::find(options.aipps, number++, &Aipp::input);
    if (aipp != options.aipps.end()) {
      scope->values[info.name] = preprocessed(builder_, *aipp, info.name, sizes, value.dtype);
      continue;
    }
    value.dims = Dims(sizes);
    const ValueId id = builder_.graph().add(std::move(value));
    builder_.graph().inputs.push_back(id);
    builder_.note_input();
    scope->values[info.name] = id;
  }
  for (const Aipp& aipp : options.aipps) {
    if (aipp.input >= number) {
      throw Refused(text("--insert_op_conf: related_input_rank : ", aipp.input, ", where the inputs are ", inputs));
    }
  }
}

void Importer::lower_nodes(const std::vector<onnx::NodeDef>& nodes, const std::map<std::string, int64_t>& opsets,
                           Scope* scope) {
  for (const onnx::NodeDef& node : nodes) lower_node(node, opsets, scope);
}

void Importer::lower_node(const onnx::NodeDef& node, const std::map<std::string, int64_t>& opsets, Scope* scope) {
  try {
    std::vector<ValueId> inputs;
    for (const std::string& name : node.inputs) {
      const ValueId* found = name.empty() ? nullptr : scope->find(name);
      if (!name.empty() && found == nullptr) {
        throw Refused(text("its input ", name, " is made by no earlier node: the model has a cycle or lacks it"));
      }
      inputs.push_back(found == nullptr ? kNoValue : *found);
    }
    if (const onnx::FunctionDef* function = find_function(node)) {
      inline_function(*function, node, inputs, scope);
      return;
    }
    const auto opset = opsets.find(node.domain);
    const Scope* outer = std::exchange(scope_, scope);
    builder_.set_node_name(node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name);
    Call call(*this, builder_, node, opset == opsets.end() ? 1 : opset->second, std::move(inputs));
    find_lower(node.domain, node.type)(call);
    scope_ = outer;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      if (call.outputs()[i] != kNoValue) {
        scope->values[node.outputs[i]] = call.outputs()[i];
      }
    }
  } catch (const std::out_of_range&) {
    throw Refused(text(described(node), ": an attribute or input has too few elements"));
  } catch (const Refused& reason) {
    const std::string message = reason.what();
    if (message.starts_with("node ")) throw;
    throw Refused(text(described(node), ": ", message));
  }
}

std::vector<ValueId> Importer::inline_graph(const onnx::GraphDef& graph, const std::vector<ValueId>& inputs) {
  if (++nesting_ > kMaxNesting) throw Refused("graphs are nested too deeply");
  Scope scope;
  scope.outer = scope_;
  if (graph.inputs.size() != inputs.size()) throw Refused("a graph in an attribute has another number of inputs");
  for (size_t i = 0; i < inputs.size(); ++i) scope.values[graph.inputs[i].name] = inputs[i];
  add_initializers(graph, &scope);
  lower_nodes(graph.nodes, model_.opsets, &scope);
  std::vector<ValueId> outputs;
  for (const onnx::ValueInfo& info : graph.outputs) {
    const ValueId* found = scope.find(info.name);
    if (found == nullptr) throw Refused(text("the output ", info.name, " of a graph in an attribute is not made"));
    outputs.push_back(*found);
  }
  --nesting_;
  return outputs;
}

void Importer::inline_function(const onnx::FunctionDef& function, const onnx::NodeDef& node,
                               const std::vector<ValueId>& inputs, Scope* scope) {
  if (++nesting_ > kMaxNesting) throw Refused("functions call each other too deeply");
  Scope own;
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    if (i < inputs.size() && inputs[i] != kNoValue) own.values[function.inputs[i]] = inputs[i];
  }
  std::vector<onnx::NodeDef> nodes = function.nodes;
  for (onnx::NodeDef& one : nodes) {
    for (std::string& input : one.inputs) {
      // An input that the caller omits is omitted in the body as well.
      const bool is_omitted =
          std::ranges::find(function.inputs, input) != function.inputs.end() && !own.values.contains(input);
      if (is_omitted) input.clear();
    }
    std::vector<onnx::Attribute> attributes;
    for (onnx::Attribute& attribute : one.attributes) {
      if (attribute.reference.empty()) {
        attributes.push_back(std::move(attribute));
        continue;
      }
      const auto given = std::ranges::find(node.attributes, attribute.reference, &onnx::Attribute::name);
      const auto otherwise = function.defaults.find(attribute.reference);
      if (given == node.attributes.end() && otherwise == function.defaults.end()) continue;
      onnx::Attribute value = given != node.attributes.end() ? *given : otherwise->second;
      value.name = attribute.name;
      attributes.push_back(std::move(value));
    }
    one.attributes = std::move(attributes);
  }
  std::map<std::string, int64_t> opsets = model_.opsets;
  for (const auto& [domain, version] : function.opsets) opsets[domain] = version;
  lower_nodes(nodes, opsets, &own);
  for (size_t i = 0; i < node.outputs.size() && i < function.outputs.size(); ++i) {
    const ValueId* found = own.find(function.outputs[i]);
    if (found != nullptr) scope->values[node.outputs[i]] = *found;
  }
  --nesting_;
}

// Each output has memory of its own, which the caller gives.
void Importer::set_outputs(const std::vector<std::string>& names, const ImportOptions& options, const Scope& scope) {
  Graph& graph = builder_.graph();
  std::set<ValueId> written;
  for (const std::string& name : names) {
    const ValueId* found = scope.find(name);
    if (found == nullptr) throw Refused(text("no node makes the output ", name));
    builder_.set_node_name(name);
    ValueId id = builder_.resolve(*found);
    const aclDataType dtype = options.dtype_of_output(name);
    if (dtype != ACL_DT_UNDEFINED) id = builder_.cast(id, dtype);
    const ValueId root = graph.root(id);
    if (graph.values[root].kind != ValueKind::kResult || !written.insert(root).second || builder_.is_known(id)) {
      id = builder_.emit("Identity", {{id}});
      written.insert(id);
    }
    graph.values[id].name = name;
    graph.outputs.push_back(id);
  }
}

Status Importer::run(const ImportOptions& options, Graph* out) {
  try {
    check_operators();
    Scope scope;
    builder_.graph().name = model_.graph.name;
    add_initializers(model_.graph, &scope);
    add_inputs(options, &scope);
    lower_nodes(model_.graph.nodes, model_.opsets, &scope);
    std::vector<std::string> names = options.outputs;
    if (names.empty()) {
      for (const onnx::ValueInfo& info : model_.graph.outputs) names.push_back(info.name);
    }
    set_outputs(names, options, scope);
  } catch (const Refused& reason) {
    return {ACL_ERROR_PARSE_MODEL, reason.what()};
  }
  *out = std::move(builder_.graph());
  remove_dead(out);
  if (options.allows_hf32) allow_hf32(out);
  return check(*out);
}

std::string list_inputs(const onnx::Model& model) {
  std::string list;
  for (const onnx::ValueInfo& info : model.graph.inputs) {
    const bool is_constant =
        std::ranges::find(model.graph.initializers, info.name, &onnx::Tensor::name) != model.graph.initializers.end();
    if (!is_constant) list += text(list.empty() ? "" : "; ", shown(info));
  }
  return list;
}

Status check_input_sizes(const onnx::Model& model, const std::map<std::string, Ints>& sizes) {
  for (const auto& [name, wanted] : sizes) {
    const auto info = std::ranges::find(model.graph.inputs, name, &onnx::ValueInfo::name);
    if (info == model.graph.inputs.end()) {
      return {ACL_ERROR_PARSE_MODEL,
              text("--input_shape names ", name, ", which is no input; the model's inputs are ", list_inputs(model))};
    }
    bool fits = !info->has_shape || wanted.size() == info->dims.size();
    for (size_t i = 0; fits && info->has_shape && i < wanted.size(); ++i) {
      fits = wanted[i] < 0 || info->dims[i] < 0 || info->dims[i] == wanted[i];
    }
    if (fits) continue;
    return {ACL_ERROR_PARSE_MODEL, text("--input_shape gives ", name,
                                        " sizes that the model does not have; its inputs are ", list_inputs(model))};
  }
  return Status::ok();
}

Status check_operators(const onnx::Model& model) {
  try {
    Importer(model).check_operators();
  } catch (const Refused& reason) {
    return {ACL_ERROR_PARSE_MODEL, reason.what()};
  }
  return Status::ok();
}

Status import_model(const onnx::Model& model, const ImportOptions& options, Graph* out) {
  return Importer(model).run(options, out);
}

}  // namespace softnpu::graph
