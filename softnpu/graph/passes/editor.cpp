#include "graph/passes/editor.h"

#include <algorithm>
#include <utility>

#include "graph/ir/numbers.h"

namespace softnpu::graph {

Editor::Editor(Graph* graph) : graph_(graph) {
  grow();
  for (const Node& node : graph->nodes) use(node);
  for (const Value& value : graph->values) {
    if (value.kind == ValueKind::kView) ++uses_[value.base];
  }
  for (const ValueId id : graph->outputs) {
    ++uses_[id];
    is_output_[graph->root(id)] = true;
  }
}

void Editor::grow() {
  producer_.resize(graph_->values.size(), -1);
  uses_.resize(graph_->values.size());
  is_output_.resize(graph_->values.size());
}

void Editor::use(const Node& node) {
  for (const Operand& input : node.inputs) {
    if (input.value != kNoValue) ++uses_[input.value];
  }
}

size_t Editor::run(const Rule& rule) {
  size_t changes = 0;
  const size_t values = graph_->values.size();
  std::vector<Node> before = std::move(graph_->nodes);
  nodes_.reserve(before.size());
  is_dead_.reserve(before.size());
  for (Node& node : before) {
    if (rule(node)) {
      ++changes;
      release(node);
      continue;
    }
    for (const ValueId id : node.outputs) producer_[id] = static_cast<int64_t>(nodes_.size());
    nodes_.push_back(std::move(node));
    is_dead_.push_back(false);
  }
  if (changes == 0 && nodes_.size() == before.size() && graph_->values.size() == values) {
    graph_->nodes = std::move(nodes_);  // nothing is dead that was not before
    return 0;
  }
  graph_->nodes.clear();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!is_dead_[i]) graph_->nodes.push_back(std::move(nodes_[i]));
  }
  remove_dead(graph_);
  return changes;
}

const Node* Editor::producer(ValueId id) const {
  return id == kNoValue || producer_[id] < 0 ? nullptr : &nodes_[producer_[id]];
}

const Node* Editor::producer(ValueId id, std::string_view type) const {
  const Node* node = producer(id);
  return node != nullptr && node->type == type ? node : nullptr;
}

std::optional<double> Editor::number(const Operand& operand) const {
  if (!is_constant(operand.value) || element_count(dims(operand.value)) != 1) return std::nullopt;
  std::vector<double> numbers;
  if (!read_numbers(value(operand.value), &numbers).is_ok() || numbers.size() != 1) return std::nullopt;
  return numbers[0];
}

std::vector<int64_t> Editor::integers(const Operand& operand) const {
  std::vector<int64_t> numbers;
  if (!is_constant(operand.value) || !read_integers(value(operand.value), &numbers).is_ok()) numbers.clear();
  return numbers;
}

ValueId Editor::result(aclDataType dtype, Dims dims) {
  Value created;
  created.dtype = dtype;
  created.dims = std::move(dims);
  const ValueId id = graph_->add(std::move(created));
  grow();
  return id;
}

ValueId Editor::view(ValueId of, Dims dims) {
  if (value(of).dims == dims) return of;
  const ValueId id = result(value(of).dtype, std::move(dims));
  graph_->values[id].kind = ValueKind::kView;
  graph_->values[id].base = of;
  graph_->values[id].name = value(of).name;
  ++uses_[of];
  return id;
}

ValueId Editor::constant(aclDataType dtype, Dims dims, const std::vector<double>& numbers) {
  std::vector<char> bytes;
  bytes.reserve(numbers.size() * aclDataTypeSize(dtype));
  for (const double number : numbers) (void)append_number(&bytes, number, dtype);
  const ValueId id = result(dtype, std::move(dims));
  graph_->values[id].kind = ValueKind::kConstant;
  graph_->values[id].bytes = copy_bytes(bytes.data(), bytes.size());
  return id;
}

ValueId Editor::constant(const std::vector<int64_t>& integers) {
  const ValueId id = result(ACL_INT64, {static_cast<int64_t>(integers.size())});
  graph_->values[id].kind = ValueKind::kConstant;
  graph_->values[id].bytes = copy_bytes(integers.data(), integers.size() * sizeof(int64_t));
  return id;
}

ValueId Editor::reshaped(ValueId constant, Dims dims) {
  Value copy = value(constant);
  copy.dims = std::move(dims);
  const ValueId id = graph_->add(std::move(copy));
  grow();
  return id;
}

void Editor::emit(Node node) {
  use(node);
  for (const ValueId id : node.outputs) {
    producer_[id] = static_cast<int64_t>(nodes_.size());
    if (graph_->values[id].name.empty()) graph_->values[id].name = node.name;
  }
  nodes_.push_back(std::move(node));
  is_dead_.push_back(false);
}

bool Editor::alias(ValueId id, ValueId source) {
  Value& created = graph_->values[id];
  if (is_output_[id] || created.kind != ValueKind::kResult) return false;
  created.kind = ValueKind::kView;
  created.base = source;
  ++uses_[source];
  return true;
}

void Editor::release(const Node& node) {
  for (const Operand& input : node.inputs) {
    if (input.value != kNoValue) release(input.value);
  }
}

// On a stack of its own: chains may be long.
void Editor::release(ValueId first) {
  std::vector<ValueId> stack = {first};
  while (!stack.empty()) {
    const ValueId id = stack.back();
    stack.pop_back();
    if (--uses_[id] > 0) continue;
    if (value(id).kind == ValueKind::kView) {
      stack.push_back(value(id).base);
      continue;
    }
    const int64_t number = producer_[id];
    if (number < 0 || is_dead_[number]) continue;
    const std::vector<ValueId>& outputs = nodes_[number].outputs;
    if (std::ranges::any_of(outputs, [this](ValueId output) { return uses_[output] > 0; })) continue;
    is_dead_[number] = true;
    for (const Operand& input : nodes_[number].inputs) {
      if (input.value != kNoValue) stack.push_back(input.value);
    }
  }
}

Node simple_node(std::string type, const Node& like, std::vector<Operand> inputs, ValueId output) {
  return {std::move(type), like.name, std::move(inputs), {output}, std::make_shared<aclopAttr>()};
}

}  // namespace softnpu::graph
