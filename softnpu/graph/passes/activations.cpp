// Activations that a model spells out are rows of their own. A constant counts as equal within one part in 10^4: models
// store them rounded.

#include <cmath>
#include <numbers>

#include "graph/passes/editor.h"
#include "graph/passes/passes.h"

namespace softnpu::graph {
namespace {

class Recognizer {
 public:
  explicit Recognizer(Editor* editor) : edit_(*editor) {}

  bool operator()(const Node& node) {
    return node.type == "Mul" && node.inputs.size() == 2 && (swish(node) || hard_swish(node) || gelu(node));
  }

 private:
  static bool is_near(double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); }

  // The operand besides a number near `wanted`; kNoValue if the node is no `type` of such a number. The operands of
  // symmetric operators may be in any order.
  ValueId operand_of(const Node* node, std::string_view type, double wanted) const {
    if (node == nullptr || node->type != type || node->inputs.size() != 2) return kNoValue;
    for (size_t i = 0; i < (type == "RealDiv" ? 1U : 2U); ++i) {
      const auto number = edit_.number(node->inputs[1 - i]);
      const ValueId other = node->inputs[i].value;
      if (number.has_value() && is_near(*number, wanted) && edit_.dims(other) == edit_.dims(node->outputs[0])) {
        return other;
      }
    }
    return kNoValue;
  }
  ValueId operand_of(ValueId id, std::string_view type, double wanted) const {
    return operand_of(edit_.producer(id), type, wanted);
  }

  // The same for x / a and x * (1 / a).
  ValueId divided(ValueId id, double divisor) const {
    const ValueId quotient = operand_of(id, "RealDiv", divisor);
    return quotient != kNoValue ? quotient : operand_of(id, "Mul", 1 / divisor);
  }

  bool replace(const Node& node, const char* type, ValueId x) {
    if (edit_.dims(x) != edit_.dims(node.outputs[0])) return false;
    if (edit_.value(x).dtype != edit_.value(node.outputs[0]).dtype) return false;
    edit_.emit(simple_node(type, node, {{x}}, node.outputs[0]));
    return true;
  }

  // x sigmoid(x)
  bool swish(const Node& node) {
    for (size_t i = 0; i < 2; ++i) {
      const ValueId x = node.inputs[i].value;
      const Node* sigmoid = edit_.producer(node.inputs[1 - i].value, "Sigmoid");
      if (sigmoid != nullptr && sigmoid->inputs[0].value == x) return replace(node, "Swish", x);
    }
    return false;
  }

  // x min(max(x / 6 + 1 / 2, 0), 1)
  bool hard_swish(const Node& node) {
    for (size_t i = 0; i < 2; ++i) {
      const ValueId x = node.inputs[i].value;
      const ValueId below = operand_of(node.inputs[1 - i].value, "Minimum", 1);
      const Node* above = below == kNoValue ? nullptr : edit_.producer(below, "Maximum");
      if (above == nullptr || edit_.number(above->inputs[1]) != 0.0) continue;
      const ValueId line = operand_of(above->inputs[0].value, "Add", 0.5);
      if (line != kNoValue && divided(line, 6) == x) return replace(node, "HardSwish", x);
    }
    return false;
  }

  // x (1 + erf(x / sqrt(2))); kNoValue if `id` is none.
  ValueId erf_product(ValueId id) const {
    const Node* product = edit_.producer(id, "Mul");
    if (product == nullptr || product->inputs.size() != 2) return kNoValue;
    for (size_t i = 0; i < 2; ++i) {
      if (is_erf_factor(product->inputs[1 - i].value, product->inputs[i].value)) return product->inputs[i].value;
    }
    return kNoValue;
  }
  bool is_erf_factor(ValueId id, ValueId x) const {
    const ValueId inner = operand_of(id, "Add", 1);
    const Node* erf = inner == kNoValue ? nullptr : edit_.producer(inner, "Erf");
    return erf != nullptr && x != kNoValue && divided(erf->inputs[0].value, std::numbers::sqrt2) == x;
  }

  // x / 2 (1 + erf(x / sqrt(2))), the half anywhere.
  bool gelu(const Node& node) {
    for (size_t i = 0; i < 2; ++i) {
      const ValueId a = node.inputs[i].value;
      const ValueId b = node.inputs[1 - i].value;
      const ValueId half = operand_of(&node, "Mul", 0.5);
      if (half != kNoValue) {
        const ValueId x = erf_product(half);
        return x != kNoValue && replace(node, "Gelu", x);
      }
      const ValueId x = operand_of(a, "Mul", 0.5);  // x / 2
      if (x != kNoValue && is_erf_factor(b, x)) return replace(node, "Gelu", x);
      const ValueId factor = operand_of(b, "Mul", 0.5);  // (1 + erf) / 2
      if (factor != kNoValue && is_erf_factor(factor, a)) return replace(node, "Gelu", a);
    }
    return false;
  }

  Editor& edit_;
};

}  // namespace

Status recognize_activations(Graph* graph) { return rewrite<Recognizer>(graph); }

}  // namespace softnpu::graph
