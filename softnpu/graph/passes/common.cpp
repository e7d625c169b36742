// Nodes of one type with equal operands and attributes are computed once, equal constants are stored once.

#include <map>
#include <string>
#include <unordered_map>

#include "graph/model/attributes.h"
#include "graph/passes/editor.h"
#include "graph/passes/passes.h"

namespace softnpu::graph {
namespace {

class Merger {
 public:
  explicit Merger(Graph* graph) : graph_(*graph) {}

  void run() {
    merge_constants();
    std::vector<bool> is_output(graph_.values.size());
    for (const ValueId id : graph_.outputs) is_output[graph_.root(id)] = true;
    std::unordered_map<std::string, size_t> seen;  // to the number of the first such node
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      for (Operand& input : node.inputs) input.value = merged(input.value);
      bool may_merge = true;
      for (const ValueId id : node.outputs) may_merge &= graph_.values[id].kind == ValueKind::kResult && !is_output[id];
      if (!may_merge) continue;
      const auto [first, is_new] = seen.try_emplace(key_of(node), i);
      if (is_new) continue;
      const std::vector<ValueId>& outputs = graph_.nodes[first->second].outputs;
      for (size_t k = 0; k < node.outputs.size(); ++k) replacement_[node.outputs[k]] = outputs[k];
    }
    for (Value& value : graph_.values) {
      if (value.kind == ValueKind::kView) value.base = merged(value.base);
    }
    remove_dead(&graph_);
  }

 private:
  void merge_constants() {
    std::map<std::pair<int, std::vector<int64_t>>, std::map<std::string_view, ValueId>> seen;
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const Value& value = graph_.values[i];
      if (value.kind != ValueKind::kConstant) continue;
      const auto id = static_cast<ValueId>(i);
      const std::pair kind(static_cast<int>(value.dtype), std::vector<int64_t>(value.dims.begin(), value.dims.end()));
      const auto [first, is_new] = seen[kind].try_emplace({value.bytes.data, value.bytes.size}, id);
      if (!is_new) replacement_[id] = first->second;
    }
  }

  // The value that is computed in place of `id`: also a view of that of its base.
  ValueId merged(ValueId id) {
    if (id == kNoValue) return id;
    const auto found = replacement_.find(id);
    if (found != replacement_.end()) return found->second;
    const Value& value = graph_.values[id];
    if (value.kind != ValueKind::kView) return id;
    const ValueId base = merged(value.base);
    const std::vector<int64_t> sizes(value.dims.begin(), value.dims.end());
    const ValueId first = views_.try_emplace({base, sizes}, id).first->second;
    replacement_[id] = first;
    return first;
  }

  static std::string key_of(const Node& node) {
    Writer writer;
    writer.put(node.type);
    writer.put(static_cast<uint64_t>(node.inputs.size()));
    for (const Operand& input : node.inputs) {
      writer.put(input.value);
      writer.put(static_cast<uint8_t>(input.on_host));
    }
    put_attributes(&writer, *node.attributes);
    return writer.take();
  }

  Graph& graph_;
  std::unordered_map<ValueId, ValueId> replacement_;
  std::map<std::pair<ValueId, std::vector<int64_t>>, ValueId> views_;
};

}  // namespace

Status merge_common_subexpressions(Graph* graph) {
  Merger(graph).run();
  return Status::ok();
}

}  // namespace softnpu::graph
