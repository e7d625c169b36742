// Layer normalizations that a model spells out: (x - mean) / sqrt(variance + epsilon) gamma + beta over the last
// dimensions.

#include <algorithm>
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
  struct Standardized {
    ValueId x = kNoValue;
    double epsilon = 0;
    Dims inner;  // the sizes of the last dimensions, which are normalized
  };

  // The mean over the last dimensions; kNoValue if `id` is none.
  ValueId mean_of(ValueId id, size_t* dims) const {
    const Node* mean = edit_.producer(id, "ReduceMean");
    *dims = mean == nullptr ? 0 : mean_dims(edit_, *mean);
    return *dims == 0 ? kNoValue : mean->inputs[0].value;
  }

  ValueId squared(ValueId id) const {
    const Node* node = edit_.producer(id);
    if (node == nullptr) return kNoValue;
    if (node->type == "Square") return node->inputs[0].value;
    if (node->type == "Mul" && node->inputs[0].value == node->inputs[1].value) return node->inputs[0].value;
    if (node->type == "Pow" && edit_.number(node->inputs[1]) == 2.0) return node->inputs[0].value;
    return kNoValue;
  }

  // x in "x + epsilon".
  ValueId shifted(ValueId id, double* epsilon) const {
    const Node* sum = edit_.producer(id, "Add");
    if (sum == nullptr) return kNoValue;
    for (size_t i = 0; i < 2; ++i) {
      const auto number = edit_.number(sum->inputs[1 - i]);
      if (!number.has_value()) continue;
      *epsilon = *number;
      return sum->inputs[i].value;
    }
    return kNoValue;
  }

  // The operand of a square root; of its reciprocal if `is_reciprocal`.
  ValueId rooted(ValueId id, bool is_reciprocal) const {
    const Node* node = edit_.producer(id);
    if (node == nullptr) return kNoValue;
    if (!is_reciprocal) return node->type == "Sqrt" ? node->inputs[0].value : kNoValue;
    if (node->type == "Rsqrt") return node->inputs[0].value;
    return node->type == "Reciprocal" ? rooted(node->inputs[0].value, false) : kNoValue;
  }

  std::optional<Standardized> standardized(ValueId id) const {
    const Node* node = edit_.producer(id);
    if (node == nullptr || (node->type != "RealDiv" && node->type != "Mul")) return std::nullopt;
    const bool divides = node->type == "RealDiv";
    for (size_t i = 0; i < (divides ? 1U : 2U); ++i) {
      Standardized created;
      size_t dims = 0;
      const ValueId centered = node->inputs[i].value;
      const ValueId variance = shifted(rooted(node->inputs[1 - i].value, !divides), &created.epsilon);
      if (variance == kNoValue || squared(mean_of(variance, &dims)) != centered) continue;
      const Node* difference = edit_.producer(centered, "Sub");
      size_t mean_dims = 0;
      if (difference == nullptr) continue;
      created.x = difference->inputs[0].value;
      if (mean_of(difference->inputs[1].value, &mean_dims) != created.x || mean_dims != dims) continue;
      const Dims& sizes = edit_.dims(created.x);
      created.inner = Dims(sizes.end() - static_cast<int64_t>(dims), sizes.end());
      return created;
    }
    return std::nullopt;
  }

  // A constant of the normalized dimensions.
  bool fits(const Operand& operand, const Standardized& norm) const {
    return !operand.on_host && edit_.is_constant(operand.value) && edit_.dims(operand.value) == norm.inner &&
           edit_.value(operand.value).dtype == edit_.value(norm.x).dtype;
  }

  // standardized(x) gamma, with the number of gamma's operand.
  std::optional<Standardized> scaled(const Node* node, size_t* gamma) const {
    if (node == nullptr || node->type != "Mul" || node->inputs.size() != 2) return std::nullopt;
    for (size_t i = 0; i < 2; ++i) {
      *gamma = 1 - i;
      auto norm = standardized(node->inputs[i].value);
      if (norm.has_value() && fits(node->inputs[1 - i], *norm)) return norm;
    }
    return std::nullopt;
  }

  bool norm(const Node& node) {
    if (node.type != "Add" || node.inputs.size() != 2) return false;
    for (size_t i = 0; i < 2; ++i) {
      size_t gamma = 0;
      const Node* product = edit_.producer(node.inputs[i].value, "Mul");
      const auto norm = scaled(product, &gamma);
      if (!norm.has_value() || !fits(node.inputs[1 - i], *norm)) continue;
      if (edit_.dims(norm->x) != edit_.dims(node.outputs[0])) continue;
      const aclDataType dtype = edit_.value(norm->x).dtype;
      if (dtype != ACL_FLOAT && dtype != ACL_FLOAT16 && dtype != ACL_BF16) continue;
      Dims statistics = edit_.dims(norm->x);
      std::fill(statistics.end() - static_cast<int64_t>(norm->inner.size()), statistics.end(), 1);
      Node created =
          simple_node("LayerNormV3", node, {{norm->x}, product->inputs[gamma], node.inputs[1 - i]}, node.outputs[0]);
      for (int k = 0; k < 2; ++k) created.outputs.push_back(edit_.result(dtype, statistics));
      created.attributes = with_attribute(created, "epsilon", static_cast<float>(norm->epsilon));
      edit_.emit(std::move(created));
      return true;
    }
    return false;
  }

  Editor& edit_;
};

}  // namespace

Status recognize_layer_norms(Graph* graph) { return rewrite<Recognizer>(graph); }

}  // namespace softnpu::graph
