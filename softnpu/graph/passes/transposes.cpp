// Transposes are composed, moved behind elementwise nodes, and removed where they only rename sizes.

#include <algorithm>
#include <optional>

#include "graph/ir/elementwise.h"
#include "graph/passes/editor.h"
#include "graph/passes/passes.h"

namespace softnpu::graph {
namespace {

using Order = std::vector<int64_t>;

class Eliminator {
 public:
  explicit Eliminator(Editor* editor) : edit_(*editor) {}

  bool operator()(const Node& node) { return compose(node) || rename(node) || move(node); }

 private:
  // Of a transpose; empty if the node is none.
  Order order_of(const Node* node) const {
    return node == nullptr || node->type != "Transpose" ? Order() : edit_.integers(node->inputs[1]);
  }

  // A transpose of a transpose is one.
  bool compose(const Node& node) {
    const Order outer = order_of(&node);
    const Node* before = edit_.producer(node.inputs.empty() ? kNoValue : node.inputs[0].value);
    const Order inner = order_of(before);
    if (outer.empty() || outer.size() != inner.size()) return false;
    Order order;
    for (const int64_t dim : outer) order.push_back(inner[dim]);
    const Operand source = before->inputs[0];
    if (std::ranges::is_sorted(order) && edit_.alias(node.outputs[0], source.value)) return true;
    Node changed = node;
    changed.inputs = {source, {edit_.constant(order), true}};
    edit_.emit(std::move(changed));
    return true;
  }

  // Dimensions of more than one element keep their order.
  bool rename(const Node& node) {
    const Order order = order_of(&node);
    if (order.empty()) return false;
    const Dims& dims = edit_.dims(node.inputs[0].value);
    int64_t last = -1;
    for (const int64_t dim : order) {
      if (dims[dim] == 1) continue;
      if (dim < last) return false;
      last = dim;
    }
    return edit_.alias(node.outputs[0], node.inputs[0].value);
  }

  // A constant that broadcasts to a transposed value, as one that broadcasts to the value itself.
  std::optional<Operand> moved_constant(const Operand& operand, const Order& order) {
    if (edit_.number(operand).has_value() && edit_.dims(operand.value).empty()) return operand;
    if (operand.on_host || !edit_.is_constant(operand.value)) return std::nullopt;
    const Dims& dims = edit_.dims(operand.value);
    if (dims.size() > order.size()) return std::nullopt;
    Dims sizes(order.size());
    int64_t large = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t missing = order.size() - dims.size();
      sizes[order[i]] = i < missing ? 1 : dims[i - missing];
      large += sizes[order[i]] != 1 ? 1 : 0;
    }
    if (large > 1) return std::nullopt;  // its elements would change their order
    return Operand{edit_.reshaped(operand.value, std::move(sizes)), false};
  }

  // f(transpose(x), transpose(y)) is transpose(f(x, y)).
  bool move(const Node& node) {
    if (!is_elementwise(node)) return false;
    Order order;
    for (const Operand& input : node.inputs) {
      if (order.empty()) order = order_of(edit_.producer(input.value));
    }
    if (order.empty() || edit_.dims(node.outputs[0]).size() != order.size()) return false;
    std::vector<Operand> inputs;
    const Node* first = nullptr;
    Dims sizes;
    for (const Operand& input : node.inputs) {
      const Node* transpose = edit_.producer(input.value, "Transpose");
      if (transpose == nullptr) {
        const auto constant = moved_constant(input, order);
        if (!constant.has_value()) return false;
        inputs.push_back(*constant);
        continue;
      }
      const bool is_whole = edit_.dims(input.value) == edit_.dims(node.outputs[0]);
      const bool is_own = edit_.uses(input.value) == 1 && !edit_.is_output(input.value);
      if (!is_whole || !is_own || order_of(transpose) != order) return false;
      inputs.push_back(transpose->inputs[0]);
      sizes = edit_.dims(transpose->inputs[0].value);
      first = transpose;
    }
    Node transposed = *first;
    Node moved = node;
    moved.inputs = std::move(inputs);
    moved.outputs = {edit_.result(edit_.value(node.outputs[0]).dtype, std::move(sizes))};
    transposed.inputs[0] = {moved.outputs[0], false};
    transposed.outputs = node.outputs;
    edit_.emit(std::move(moved));
    edit_.emit(std::move(transposed));
    return true;
  }

  Editor& edit_;
};

}  // namespace

Status eliminate_transposes(Graph* graph) { return rewrite<Eliminator>(graph); }

}  // namespace softnpu::graph
