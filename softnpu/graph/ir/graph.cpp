#include "graph/ir/graph.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace softnpu::graph {

Bytes copy_bytes(const void* data, size_t size) {
  auto own = std::make_shared<std::vector<char>>(size);
  if (size > 0) std::memcpy(own->data(), data, size);
  const char* first = own->data();
  return {first, size, std::move(own)};
}

int64_t element_count(const Dims& dims) {
  int64_t count = 1;
  bool fits = true;
  for (const int64_t size : dims) {
    if (size == 0) return 0;
    fits = fits && !__builtin_mul_overflow(count, size, &count);
  }
  return fits ? count : INT64_MAX;
}

size_t byte_count(const Value& value) {
  size_t bytes = 0;
  const auto count = static_cast<size_t>(element_count(value.dims));
  return __builtin_mul_overflow(count, aclDataTypeSize(value.dtype), &bytes) ? SIZE_MAX : bytes;
}

ValueId Graph::root(ValueId id) const {
  while (values[id].kind == ValueKind::kView) id = values[id].base;
  return id;
}

ValueId Graph::add(Value value) {
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size() - 1);
}

namespace {

// Whether bases are before their views.
bool is_in_order(const Graph& graph) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].kind == ValueKind::kView && graph.values[i].base >= static_cast<ValueId>(i)) return false;
  }
  return true;
}

}  // namespace

void remove_dead(Graph* graph) {
  std::vector<bool> used(graph->values.size());
  const auto use = [&](ValueId id) {
    for (used[id] = true; graph->values[id].kind == ValueKind::kView; used[id] = true) id = graph->values[id].base;
  };
  for (const ValueId id : graph->outputs) use(id);
  for (const ValueId id : graph->inputs) use(id);
  std::vector<bool> is_kept(graph->nodes.size());
  for (size_t i = graph->nodes.size(); i-- > 0;) {
    const Node& node = graph->nodes[i];
    bool is_needed = false;
    for (const ValueId id : node.outputs) is_needed |= used[id] && graph->values[id].kind != ValueKind::kConstant;
    // An operator that writes over an input has a view of it as its output.
    for (const ValueId id : node.outputs) {
      is_needed |= graph->values[id].kind == ValueKind::kView && used[graph->root(id)];
    }
    if (!is_needed) continue;
    for (const Operand& input : node.inputs) {
      if (input.value != kNoValue) use(input.value);
    }
    for (const ValueId id : node.outputs) use(id);
    is_kept[i] = true;
  }
  size_t count = 0;
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    if (is_kept[i] && count++ != i) graph->nodes[count - 1] = std::move(graph->nodes[i]);
  }
  graph->nodes.resize(count);
  if (is_in_order(*graph) && std::ranges::find(used, false) == used.end()) return;

  std::vector<ValueId> renamed(graph->values.size(), kNoValue);
  std::vector<Value> values;
  std::vector<ValueId> bases;
  for (size_t i = 0; i < graph->values.size(); ++i) {
    if (!used[i] || renamed[i] != kNoValue) continue;
    // Bases are before their views, also those that a pass made later.
    bases = {static_cast<ValueId>(i)};
    while (graph->values[bases.back()].kind == ValueKind::kView) {
      const ValueId base = graph->values[bases.back()].base;
      if (renamed[base] != kNoValue) break;
      bases.push_back(base);
    }
    for (; !bases.empty(); bases.pop_back()) {
      renamed[bases.back()] = static_cast<ValueId>(values.size());
      values.push_back(std::move(graph->values[bases.back()]));
    }
  }
  const auto rename = [&](ValueId* id) {
    if (*id != kNoValue) *id = renamed[*id];
  };
  for (Value& value : values) rename(&value.base);
  for (Node& node : graph->nodes) {
    for (Operand& input : node.inputs) rename(&input.value);
    for (ValueId& id : node.outputs) rename(&id);
  }
  for (ValueId& id : graph->inputs) rename(&id);
  for (ValueId& id : graph->outputs) rename(&id);
  graph->values = std::move(values);
}

namespace {

Status damaged(std::string what) { return {ACL_ERROR_PARSE_MODEL, "the graph is damaged: " + std::move(what)}; }

Status check_value(const Graph& graph, ValueId id) {
  const Value& value = graph.values[id];
  Checked bytes = checked(aclDataTypeSize(value.dtype));
  if (bytes.value() == 0) return damaged(text(value.name, " has the data type ", static_cast<int>(value.dtype)));
  for (const int64_t size : value.dims) {
    if (size < 0) return damaged(text(value.name, " has a size of ", size));
    bytes = bytes * size;
    if (!bytes.fits()) return damaged(value.name + " has more bytes than 64 bits count");
  }
  if (value.kind > ValueKind::kParameter) return damaged(value.name + " is of no known kind");
  const bool has_bytes = value.kind == ValueKind::kConstant || value.kind == ValueKind::kParameter;
  if (has_bytes && value.bytes.size != bytes.bytes()) {
    return damaged(text(value.name, " has ", value.bytes.size, " bytes, where ", bytes.bytes(), " are needed"));
  }
  if (value.kind != ValueKind::kView) return Status::ok();
  // Bases are made before their views: no cycles.
  if (value.base < 0 || value.base >= id) return damaged(value.name + " is a view of no earlier value");
  if (byte_count(graph.values[value.base]) != bytes.bytes()) return damaged(value.name + " has not its base's size");
  return Status::ok();
}

}  // namespace

Status check(const Graph& graph) {
  const auto count = static_cast<ValueId>(graph.values.size());
  std::vector<bool> created(graph.values.size());
  for (ValueId id = 0; id < count; ++id) {
    SOFTNPU_RETURN_IF_ERROR(check_value(graph, id));
    const ValueKind kind = graph.values[id].kind;
    created[id] = kind == ValueKind::kInput || kind == ValueKind::kConstant || kind == ValueKind::kParameter;
  }
  const auto is_created = [&](ValueId id) { return id >= 0 && id < count && created[graph.root(id)]; };
  for (const Node& node : graph.nodes) {
    if (node.attributes == nullptr) return damaged(node.name + " has no attributes");
    for (const Operand& input : node.inputs) {
      if (input.value == kNoValue) continue;
      if (!is_created(input.value)) return damaged(node.name + " reads a value that no earlier node makes");
      if (input.on_host && graph.values[graph.root(input.value)].kind != ValueKind::kConstant) {
        return damaged(node.name + " needs the bytes of a value that is no constant");
      }
    }
    for (const ValueId id : node.outputs) {
      if (id < 0 || id >= count) return damaged(node.name + " has an output that is no value");
      const Value& root = graph.values[graph.root(id)];
      if (root.kind != ValueKind::kResult) return damaged(node.name + " writes to a constant or an input");
      if (graph.values[id].kind == ValueKind::kResult && created[id])
        return damaged(node.name + " makes a value again");
      if (graph.values[id].kind == ValueKind::kView && !is_created(id))
        return damaged(node.name + " writes to no value");
      created[graph.root(id)] = true;
    }
  }
  std::vector<bool> written(graph.values.size());
  for (const ValueId id : graph.outputs) {
    if (!is_created(id)) return damaged("an output that no node makes");
    const ValueId root = graph.root(id);
    if (graph.values[root].kind != ValueKind::kResult || written[root]) {
      return damaged("an output without memory of its own");
    }
    written[root] = true;
  }
  for (const ValueId id : graph.inputs) {
    if (id < 0 || id >= count || graph.values[id].kind != ValueKind::kInput) return damaged("an input that is none");
  }
  return Status::ok();
}

}  // namespace softnpu::graph
