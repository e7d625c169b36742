// Two bounds of one value, max(x, low) and min(x, high), are one row: ClipByValue.

#include <optional>

#include "graph/passes/editor.h"
#include "graph/passes/passes.h"

namespace softnpu::graph {
namespace {

class Recognizer {
 public:
  explicit Recognizer(Editor* editor) : edit_(*editor) {}

  bool operator()(const Node& node) {
    const bool is_upper = node.type == "Minimum";
    if ((!is_upper && node.type != "Maximum") || node.inputs.size() != 2) return false;
    const auto outer = bound_of(node);
    if (!outer.has_value()) return false;
    const ValueId between = node.inputs[1 - outer->operand].value;
    const Node* inside = edit_.producer(between, is_upper ? "Maximum" : "Minimum");
    if (inside == nullptr || edit_.uses(between) != 1 || edit_.is_output(between)) return false;
    const auto inner = bound_of(*inside);
    if (!inner.has_value()) return false;
    const Bound& low = is_upper ? *inner : *outer;
    const Bound& high = is_upper ? *outer : *inner;
    if (!(low.number <= high.number)) return false;
    const ValueId x = inside->inputs[1 - inner->operand].value;
    if (edit_.value(x).dtype != edit_.value(node.outputs[0]).dtype) return false;
    edit_.emit(simple_node("ClipByValue", node, {{x}, {low.value, true}, {high.value, true}}, node.outputs[0]));
    return true;
  }

 private:
  struct Bound {
    size_t operand = 0;
    ValueId value = kNoValue;
    double number = 0;
  };

  // The operand that is a number. None if both are, or if the result has other sizes than the value: it broadcasts.
  std::optional<Bound> bound_of(const Node& node) const {
    for (size_t i = 0; i < 2; ++i) {
      const Operand& other = node.inputs[1 - i];
      const auto number = edit_.number(node.inputs[i]);
      if (!number.has_value() || other.value == kNoValue || edit_.is_constant(other.value)) continue;
      if (edit_.dims(other.value) == edit_.dims(node.outputs[0])) return Bound{i, node.inputs[i].value, *number};
    }
    return std::nullopt;
  }

  Editor& edit_;
};

}  // namespace

Status recognize_clips(Graph* graph) { return rewrite<Recognizer>(graph); }

}  // namespace softnpu::graph
