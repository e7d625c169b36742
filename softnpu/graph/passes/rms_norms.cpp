// RMS norms that a model spells out: x / sqrt(mean(x^2) + epsilon) gamma over the last dimensions. A model of half
// precision computes them in float32, as the operator does.

#include <optional>

#include "graph/passes/editor.h"
#include "graph/passes/means.h"
#include "graph/passes/passes.h"

namespace softnpu::graph {
namespace {

class Recognizer {
 public:
  explicit Recognizer(Editor* editor) : edit_(*editor) {}

  bool operator()(const Node& node) { return norm(node); }

 private:
  struct Normalized {
    ValueId x = kNoValue;
    double epsilon = 0;
    size_t dims = 0;  // how many dimensions are normalized
  };

  bool is_square_of(ValueId id, ValueId x) const {
    const Node* node = edit_.producer(id);
    if (node == nullptr || node->inputs[0].value != x) return false;
    if (node->type == "Square") return true;
    if (node->type == "Mul") return node->inputs[1].value == x;
    return node->type == "Pow" && edit_.number(node->inputs[1]) == 2.0;
  }

  // The operand of 1 / sqrt(..), or of sqrt(..) if the root divides.
  ValueId rooted(ValueId id, bool divides) const {
    const Node* node = edit_.producer(id);
    if (node == nullptr) return kNoValue;
    if (divides) return node->type == "Sqrt" ? node->inputs[0].value : kNoValue;
    if (node->type == "Rsqrt") return node->inputs[0].value;
    if (node->type == "Reciprocal") return rooted(node->inputs[0].value, true);
    const bool inverts = node->type == "RealDiv" && edit_.number(node->inputs[0]) == 1.0;
    return inverts ? rooted(node->inputs[1].value, true) : kNoValue;
  }

  // x / sqrt(mean(x^2) + epsilon), where the node multiplies or divides x = inputs[place].
  bool is_normalized(const Node& node, size_t location, bool divides, Normalized* out) const {
    const Node* sum = edit_.producer(rooted(node.inputs[1 - location].value, divides), "Add");
    if (sum == nullptr || sum->inputs.size() != 2) return false;
    for (size_t i = 0; i < 2; ++i) {
      const auto epsilon = edit_.number(sum->inputs[1 - i]);
      const Node* mean = edit_.producer(sum->inputs[i].value, "ReduceMean");
      if (!epsilon.has_value() || mean == nullptr) continue;
      out->x = node.inputs[location].value;
      out->epsilon = *epsilon;
      out->dims = mean_dims(edit_, *mean);
      if (out->dims > 0 && is_square_of(mean->inputs[0].value, out->x)) return true;
    }
    return false;
  }

  std::optional<Normalized> normalized(ValueId id) const {
    const Node* node = edit_.producer(id);
    if (node == nullptr || node->inputs.size() != 2) return std::nullopt;
    const bool divides = node->type == "RealDiv";
    if (!divides && node->type != "Mul") return std::nullopt;
    Normalized result;
    if (is_normalized(*node, 0, divides, &result)) return result;
    if (!divides && is_normalized(*node, 1, false, &result)) return result;
    return std::nullopt;
  }

  // The same behind casts: of x to float32, and of the result back.
  std::optional<Normalized> normalized_in_float32(ValueId id) const {
    const Node* back = edit_.producer(id, "Cast");
    const aclDataType dtype = edit_.value(id).dtype;
    auto result = normalized(back == nullptr ? id : back->inputs[0].value);
    if (!result.has_value() || edit_.value(result->x).dtype == dtype) return result;
    const Node* cast = edit_.producer(result->x, "Cast");
    if (cast == nullptr || edit_.value(result->x).dtype != ACL_FLOAT) return std::nullopt;
    result->x = cast->inputs[0].value;
    return edit_.value(result->x).dtype == dtype ? result : std::nullopt;
  }

  bool norm(const Node& node) {
    if (node.type != "Mul" || node.inputs.size() != 2) return false;
    for (size_t i = 0; i < 2; ++i) {
      const Operand& gamma = node.inputs[1 - i];
      if (gamma.on_host || gamma.value == node.inputs[i].value) continue;
      const ValueId quotient = node.inputs[i].value;
      if (quotient == kNoValue || edit_.uses(quotient) != 1 || edit_.is_output(quotient)) continue;
      const auto norm = normalized_in_float32(quotient);
      if (!norm.has_value()) continue;
      const Value& x = edit_.value(norm->x);
      const Dims inner(x.dims.end() - static_cast<int64_t>(norm->dims), x.dims.end());
      const bool is_floating = x.dtype == ACL_FLOAT || x.dtype == ACL_FLOAT16 || x.dtype == ACL_BF16;
      const bool fits = edit_.dims(gamma.value) == inner && edit_.value(gamma.value).dtype == x.dtype &&
                        edit_.dims(node.outputs[0]) == x.dims && edit_.value(node.outputs[0]).dtype == x.dtype;
      if (!is_floating || !fits) continue;
      Node result = simple_node("softnpuRmsNorm", node, {{norm->x}, gamma}, node.outputs[0]);
      result.attributes = with_attribute(result, "epsilon", static_cast<float>(norm->epsilon));
      edit_.emit(std::move(result));
      return true;
    }
    return false;
  }

  Editor& edit_;
};

}  // namespace

Status recognize_rms_norms(Graph* graph) { return rewrite<Recognizer>(graph); }

}  // namespace softnpu::graph
