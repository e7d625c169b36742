#pragma once
// Rewrites a graph node by node, in order: a rule sees the nodes before its own as they are already rewritten.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace softnpu::graph {

class Editor {
 public:
  // A rule emits nodes in place of `node` (or makes aliases of its outputs) and returns true, or leaves it alone.
  using Rule = std::function<bool(const Node& node)>;

  explicit Editor(Graph* graph);

  // Applies the rule to every node, then removes what is dead. Returns how many nodes were replaced.
  size_t run(const Rule& rule);

  const Graph& graph() const { return *graph_; }
  const Value& value(ValueId id) const { return graph_->values[id]; }
  const Dims& dims(ValueId id) const { return graph_->values[id].dims; }
  // The node that makes `id`; null for inputs, constants and views. Valid until the next node is emitted.
  const Node* producer(ValueId id) const;
  // The same if it is of `type`.
  const Node* producer(ValueId id, std::string_view type) const;
  // The value under a view.
  ValueId root(ValueId id) const { return graph_->root(id); }
  // By how many operands, views and outputs of the graph the value is used.
  size_t uses(ValueId id) const { return uses_[id]; }
  bool is_output(ValueId id) const { return is_output_[graph_->root(id)]; }
  bool is_constant(ValueId id) const { return id != kNoValue && value(id).kind == ValueKind::kConstant; }
  // The only element of a constant.
  std::optional<double> number(const Operand& operand) const;
  // The elements of a constant of integers; empty if it is none.
  std::vector<int64_t> integers(const Operand& operand) const;

  // A result for a new node.
  ValueId result(aclDataType dtype, Dims dims);
  ValueId view(ValueId of, Dims dims);
  ValueId constant(aclDataType dtype, Dims dims, const std::vector<double>& numbers);
  ValueId constant(const std::vector<int64_t>& integers);
  // A constant with other sizes for the same elements.
  ValueId reshaped(ValueId constant, Dims dims);
  void emit(Node node);
  // Makes `id`, an output of the rule's node, the elements of `source`. Refused for outputs of the graph, which have
  // memory of their own.
  bool alias(ValueId id, ValueId source);

 private:
  void grow();
  void use(const Node& node);
  void release(const Node& node);
  void release(ValueId id);

  Graph* graph_;
  std::vector<Node> nodes_;        // rewritten
  std::vector<bool> is_dead_;      // of nodes_
  std::vector<int64_t> producer_;  // of each value: its node in nodes_, -1 if there is none
  std::vector<size_t> uses_;
  std::vector<bool> is_output_;  // of roots
};

// Rewrites the graph by a class of rules: it is built from the editor, and called with a node it is a rule.
template <typename Rules>
Status rewrite(Graph* graph) {
  Editor editor(graph);
  (void)editor.run(Rules(&editor));
  return Status::ok();
}

// An attribute of a node; `otherwise` if it has none of the type.
template <typename T>
T attribute(const Node& node, std::string_view name, T otherwise) {
  const auto found = node.attributes->values.find(name);
  const T* value = found == node.attributes->values.end() ? nullptr : std::get_if<T>(&found->second);
  return value == nullptr ? std::move(otherwise) : *value;
}

// A copy of the node's attributes with one replaced.
template <typename T>
std::shared_ptr<const aclopAttr> with_attribute(const Node& node, const char* name, T value) {
  auto changed = std::make_shared<aclopAttr>(*node.attributes);
  changed->values[name] = std::move(value);
  return changed;
}

// A node with one result and no attributes.
Node simple_node(std::string type, const Node& like, std::vector<Operand> inputs, ValueId output);

}  // namespace softnpu::graph
