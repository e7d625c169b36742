#include "graph/ir/print.h"

#include <unordered_map>

#include "base/text.h"
#include "graph/ir/numbers.h"

namespace softnpu::graph {

std::string dtype_name(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT: return "float32";
    case ACL_FLOAT16: return "float16";
    case ACL_BF16: return "bfloat16";
    case ACL_DOUBLE: return "float64";
    case ACL_INT8: return "int8";
    case ACL_INT16: return "int16";
    case ACL_INT32: return "int32";
    case ACL_INT64: return "int64";
    case ACL_UINT8: return "uint8";
    case ACL_UINT16: return "uint16";
    case ACL_UINT32: return "uint32";
    case ACL_UINT64: return "uint64";
    case ACL_BOOL: return "bool";
    case ACL_COMPLEX64: return "complex64";
    case ACL_COMPLEX128: return "complex128";
    default: return text("type", static_cast<int>(dtype));
  }
}

namespace {

constexpr int64_t kShownElements = 16;  // a constant of so many elements is shown by its elements

template <typename List>
std::string listed(const List& values) {
  std::string list = "[";
  for (size_t i = 0; i < values.size(); ++i) list += text(i == 0 ? "" : ",", values[i]);
  return list + "]";
}

std::string typed(const Value& value) { return dtype_name(value.dtype) + listed(value.dims); }

struct ShowAttribute {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return text(value); }
  std::string operator()(float value) const { return text(value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(aclDataType value) const { return dtype_name(value); }
  std::string operator()(const std::vector<int64_t>& value) const { return listed(value); }
  std::string operator()(const std::vector<float>& value) const { return listed(value); }
  template <typename Other>
  std::string operator()(const Other& value) const {
    return text(value.size(), " values");
  }
};

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}

  std::string run() {
    std::string lines = "graph " + graph_.name + "(";
    for (const ValueId id : graph_.inputs) {
      if (id != graph_.inputs[0]) lines += ", ";
      lines += text(number(id), " ", graph_.values[id].name, ": ", typed(graph_.values[id]));
    }
    lines += ")\n";
    for (const Node& node : graph_.nodes) lines += line(node);
    lines += "return ";
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      lines += text(i == 0 ? "" : ", ", operand(graph_.outputs[i]), " ", graph_.values[graph_.outputs[i]].name);
    }
    return lines + "\n";
  }

 private:
  std::string number(ValueId id) { return text("%", numbers_.try_emplace(id, numbers_.size()).first->second); }

  std::string constant(const Value& value) const {
    std::vector<double> numbers;
    if (element_count(value.dims) > kShownElements || !read_numbers(value, &numbers).is_ok()) {
      return "const " + typed(value);
    }
    return (value.dtype == ACL_INT64 ? "" : dtype_name(value.dtype)) + listed(numbers);
  }

  std::string operand(ValueId id) {
    if (id == kNoValue) return "none";
    const Value& value = graph_.values[id];
    if (value.kind == ValueKind::kConstant) return constant(value);
    if (value.kind == ValueKind::kParameter) return "parameter " + typed(value);
    if (value.kind == ValueKind::kView) return text("view(", operand(value.base), ", ", listed(value.dims), ")");
    return number(id);
  }

  std::string line(const Node& node) {
    std::string inputs;
    for (const Operand& input : node.inputs) inputs += text(inputs.empty() ? "" : ", ", operand(input.value));
    std::string outputs;
    std::string types;
    for (const ValueId id : node.outputs) {
      outputs += text(outputs.empty() ? "" : ", ", operand(id));
      types += text(types.empty() ? "" : ", ", typed(graph_.values[id]));
    }
    std::string attributes;
    for (const auto& [name, value] : node.attributes->values) {
      attributes += text(attributes.empty() ? " {" : ", ", name, ": ", std::visit(ShowAttribute(), value));
    }
    if (!attributes.empty()) attributes += "}";
    return text(outputs, " = ", node.type, "(", inputs, ")", attributes, " : ", types, "\n");
  }

  const Graph& graph_;
  std::unordered_map<ValueId, size_t> numbers_;
};

}  // namespace

std::string print(const Graph& graph) { return Printer(graph).run(); }

}  // namespace softnpu::graph
