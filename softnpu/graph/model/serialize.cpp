#include "graph/model/serialize.h"

#include <cstring>
#include <utility>

#include "base/text.h"
#include "graph/model/attributes.h"
#include "graph/model/bytes.h"

namespace softnpu::graph {
namespace {

constexpr size_t kAlignment = 64;  // of constants

bool read_value(Parser* parser, std::string_view constants, const std::shared_ptr<const void>& owner, Value* out) {
  out->name = parser->words();
  out->kind = parser->get<ValueKind>();
  out->dtype = static_cast<aclDataType>(parser->get<int32_t>());
  out->dims = Dims(parser->list<int64_t>());
  out->base = parser->get<ValueId>();
  const auto offset = parser->get<uint64_t>();
  const auto size = parser->get<uint64_t>();
  if (offset > constants.size() || size > constants.size() - offset) return false;
  if (out->kind == ValueKind::kConstant) out->bytes = {constants.data() + offset, size, owner};
  return parser->is_ok() && out->kind != ValueKind::kParameter;  // addresses are no part of a file
}

bool read_node(Parser* parser, Node* out) {
  out->type = parser->words();
  out->name = parser->words();
  out->inputs.resize(parser->count(sizeof(ValueId) + 1));
  for (Operand& input : out->inputs) {
    input.value = parser->get<ValueId>();
    input.on_host = parser->get<uint8_t>() != 0;
  }
  out->outputs = parser->list<ValueId>();
  auto attributes = std::make_shared<aclopAttr>();
  if (!read_attributes(parser, attributes.get())) return false;
  out->attributes = std::move(attributes);
  return parser->is_ok();
}

}  // namespace

uint64_t hash_of(std::string_view bytes) {
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t hash = 0xcbf29ce484222325 ^ bytes.size();
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  }
  for (; at < bytes.size(); ++at) hash = (hash ^ static_cast<uint8_t>(bytes[at])) * kPrime;
  return hash;
}

Serialized serialize(const Graph& graph) {
  Serialized result;
  Writer writer;
  writer.put(graph.name);
  writer.put(static_cast<uint64_t>(graph.values.size()));
  for (const Value& value : graph.values) {
    writer.put(value.name);
    writer.put(value.kind);
    writer.put(static_cast<int32_t>(value.dtype));
    writer.put_list(value.dims);
    writer.put(value.base);
    const bool is_constant = value.kind == ValueKind::kConstant;
    if (is_constant) result.constants.resize((result.constants.size() + kAlignment - 1) / kAlignment * kAlignment);
    writer.put(static_cast<uint64_t>(is_constant ? result.constants.size() : 0));
    writer.put(static_cast<uint64_t>(is_constant ? value.bytes.size : 0));
    if (is_constant) result.constants.append(value.bytes.data, value.bytes.size);
  }
  writer.put(static_cast<uint64_t>(graph.nodes.size()));
  for (const Node& node : graph.nodes) {
    writer.put(node.type);
    writer.put(node.name);
    writer.put(static_cast<uint64_t>(node.inputs.size()));
    for (const Operand& input : node.inputs) {
      writer.put(input.value);
      writer.put(static_cast<uint8_t>(input.on_host));
    }
    writer.put_list(node.outputs);
    put_attributes(&writer, *node.attributes);
  }
  writer.put_list(graph.inputs);
  writer.put_list(graph.outputs);
  result.structure = writer.take();
  return result;
}

Status deserialize(std::string_view structure, std::string_view constants, const std::shared_ptr<const void>& owner,
                   Graph* out) {
  const Status damaged = {ACL_ERROR_PARSE_MODEL, "the model's graph is damaged"};
  Parser parser(structure);
  out->name = parser.words();
  out->values.resize(parser.count(40));  // a value has at least as many bytes
  for (Value& value : out->values) {
    if (!read_value(&parser, constants, owner, &value)) return damaged;
  }
  out->nodes.resize(parser.count(40));
  for (Node& node : out->nodes) {
    if (!read_node(&parser, &node)) return damaged;
  }
  out->inputs = parser.list<ValueId>();
  out->outputs = parser.list<ValueId>();
  if (!parser.is_at_end()) return damaged;
  return check(*out);
}

}  // namespace softnpu::graph
