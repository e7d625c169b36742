// Attention that a model spells out: softmax(scale q k' + bias) v over [N, heads, S, D].

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/ir/numbers.h"
#include "graph/passes/editor.h"
#include "graph/passes/passes.h"

namespace softnpu::graph {
namespace {

class Recognizer {
 public:
  explicit Recognizer(Editor* editor) : edit_(*editor) {}

  bool operator()(const Node& node) { return attention(node); }

 private:
  struct Scores {
    const Node* product = nullptr;  // q k'
    double scale = 1;
    Operand bias;
  };

  // A value that only one operand uses.
  bool is_own(ValueId id) const { return id != kNoValue && edit_.uses(id) == 1 && !edit_.is_output(id); }

  // A row of minus infinities would have the weights 0 in place of NaN: only finite constants are taken.
  bool is_finite(const Operand& bias) const {
    std::vector<double> numbers;
    const bool is_constant = !bias.on_host && edit_.is_constant(bias.value);
    return is_constant && read_numbers(edit_.value(bias.value), &numbers).is_ok() &&
           std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
  }

  bool find_scores(ValueId id, Scores* out) const {
    if (!is_own(id)) return false;
    const Node* node = edit_.producer(id);
    if (node != nullptr && node->type == "Add" && node->inputs.size() == 2) {
      const size_t bias = is_finite(node->inputs[1]) ? 1 : 0;
      if (!is_finite(node->inputs[bias]) || edit_.dims(node->inputs[bias].value).size() > 4) return false;
      out->bias = node->inputs[bias];
      id = node->inputs[1 - bias].value;
      if (!is_own(id) || edit_.dims(id) != edit_.dims(node->outputs[0])) return false;
      node = edit_.producer(id);
    }
    if (node != nullptr && (node->type == "Mul" || node->type == "RealDiv") && node->inputs.size() == 2) {
      const bool divides = node->type == "RealDiv";
      const size_t factor = divides || edit_.number(node->inputs[1]).has_value() ? 1 : 0;
      const auto number = edit_.number(node->inputs[factor]);
      if (!number.has_value() || *number == 0) return false;
      out->scale = divides ? 1 / *number : *number;
      id = node->inputs[1 - factor].value;
      if (!is_own(id)) return false;
      node = edit_.producer(id);
    }
    out->product = node;
    return node != nullptr && node->type == "BatchMatMulV2" && node->inputs.size() == 2 &&
           edit_.dims(node->outputs[0]).size() == 4 && !attribute(*node, "adj_x1", false);
  }

  // x in a product of x and a number, by which `scale` is multiplied; else `id` itself.
  ValueId without_factor(ValueId id, double* scale) const {
    const Node* node = edit_.producer(id, "Mul");
    if (node == nullptr || node->inputs.size() != 2) return id;
    for (size_t i = 0; i < 2; ++i) {
      const auto number = edit_.number(node->inputs[1 - i]);
      const ValueId x = node->inputs[i].value;
      if (!number.has_value() || edit_.dims(x) != edit_.dims(id) || edit_.value(x).dtype != edit_.value(id).dtype)
        continue;
      *scale *= *number;
      return x;
    }
    return id;
  }

  // The keys [N, heads, S, D] of a product with them; kNoValue if they would have to be moved.
  ValueId keys_of(const Node& product) {
    const ValueId keys = product.inputs[1].value;
    if (attribute(product, "adj_x2", false)) return keys;
    const Node* transpose = edit_.producer(keys, "Transpose");
    if (transpose == nullptr || !is_own(keys)) return kNoValue;
    std::vector<int64_t> order = edit_.integers(transpose->inputs[1]);
    if (order.size() != 4) return kNoValue;
    std::swap(order[2], order[3]);
    Dims sizes = edit_.dims(keys);
    std::swap(sizes[2], sizes[3]);
    const ValueId source = transpose->inputs[0].value;
    Node other = *transpose;
    other.inputs[1] = {edit_.constant(order), true};
    other.outputs = {edit_.result(edit_.value(source).dtype, sizes)};
    const ValueId created = other.outputs[0];
    edit_.emit(std::move(other));
    return created;
  }

  bool attention(const Node& node) {
    if (node.type != "BatchMatMulV2" || node.inputs.size() != 2 || edit_.dims(node.outputs[0]).size() != 4)
      return false;
    if (attribute(node, "adj_x1", false) || attribute(node, "adj_x2", false) || !is_own(node.inputs[0].value))
      return false;
    const Node* softmax = edit_.producer(node.inputs[0].value, "SoftmaxV2");
    if (softmax == nullptr || attribute(*softmax, "axes", std::vector<int64_t>()) != std::vector<int64_t>{3})
      return false;
    Scores scores;
    if (!find_scores(softmax->inputs[0].value, &scores)) return false;
    const ValueId q = without_factor(scores.product->inputs[0].value, &scores.scale);
    const ValueId v = node.inputs[1].value;
    const aclDataType dtype = edit_.value(q).dtype;
    if (dtype != ACL_FLOAT && dtype != ACL_FLOAT16 && dtype != ACL_BF16) return false;
    const Dims& rows = edit_.dims(q);
    const Dims& values = edit_.dims(v);
    if (rows.size() != 4 || values.size() != 4 || rows[0] != values[0] || rows[1] != values[1]) return false;
    if (edit_.value(v).dtype != dtype || edit_.dims(scores.product->inputs[1].value).size() != 4) return false;
    if (edit_.dims(scores.product->inputs[1].value)[0] != rows[0] ||
        edit_.dims(scores.product->inputs[1].value)[1] != rows[1])
      return false;
    Scores found = scores;
    ValueId k = keys_of(*scores.product);
    if (k == kNoValue) return false;
    k = without_factor(k, &found.scale);
    Operand bias = found.bias;
    if (bias.value != kNoValue) {
      Dims sizes(4, 1);
      const Dims& own = edit_.dims(bias.value);
      std::copy(own.begin(), own.end(), sizes.end() - static_cast<int64_t>(own.size()));
      bias.value = edit_.reshaped(bias.value, sizes);
    }
    std::vector<Operand> inputs = {{q}, {k}, {v}};
    if (bias.value != kNoValue) inputs.push_back(bias);
    Node created = simple_node("softnpuAttention", node, std::move(inputs), node.outputs[0]);
    created.attributes = with_attribute(created, "scale", static_cast<float>(found.scale));
    edit_.emit(std::move(created));
    return true;
  }

  Editor& edit_;
};

}  // namespace

Status recognize_attention(Graph* graph) { return rewrite<Recognizer>(graph); }

}  // namespace softnpu::graph
