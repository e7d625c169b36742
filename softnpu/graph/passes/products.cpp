// Transposes before a matrix product become its attributes, a bias behind it its operand.

#include <algorithm>

#include "graph/passes/editor.h"
#include "graph/passes/passes.h"

namespace softnpu::graph {
namespace {

class Folder {
 public:
  explicit Folder(Editor* editor) : edit_(*editor) {}

  bool operator()(const Node& node) { return fold_transposes(node) || fold_bias(node); }

 private:
  static bool is_product(const Node& node) { return node.type == "MatMulV2" || node.type == "BatchMatMulV2"; }

  // Exchanges of the last two dimensions of a factor.
  bool fold_transposes(const Node& node) {
    if (!is_product(node)) return false;
    Node changed = node;
    bool is_changed = false;
    for (size_t i = 0; i < 2; ++i) {
      const Node* transpose = edit_.producer(node.inputs[i].value, "Transpose");
      if (transpose == nullptr) continue;
      std::vector<int64_t> order = edit_.integers(transpose->inputs[1]);
      if (order.size() < 2) continue;
      std::swap(order[order.size() - 1], order[order.size() - 2]);
      if (!std::ranges::is_sorted(order)) continue;
      const std::string name = (node.type == "MatMulV2" ? "transpose_x" : "adj_x") + std::to_string(i + 1);
      changed.inputs[i] = transpose->inputs[0];
      changed.attributes = with_attribute(changed, name.c_str(), !attribute(changed, name, false));
      is_changed = true;
    }
    if (!is_changed) return false;
    edit_.emit(std::move(changed));
    return true;
  }

  // product + b, where b is one row of constants.
  bool fold_bias(const Node& node) {
    if (node.type != "Add" || node.inputs.size() != 2) return false;
    for (size_t i = 0; i < 2; ++i) {
      if (fold_bias(node, node.inputs[i].value, node.inputs[1 - i])) return true;
    }
    return false;
  }

  bool fold_bias(const Node& node, ValueId sum, const Operand& row) {
    const ValueId output = node.outputs[0];
    if (sum == kNoValue || edit_.uses(sum) != 1 || edit_.is_output(sum) || edit_.dims(sum) != edit_.dims(output)) {
      return false;
    }
    const ValueId result = edit_.root(sum);
    const Node* product = edit_.producer(result, "MatMulV2");
    if (product == nullptr || product->inputs.size() != 2 || edit_.uses(result) != 1) return false;
    if (row.on_host || !edit_.is_constant(row.value) || edit_.value(row.value).dtype != edit_.value(result).dtype ||
        edit_.value(output).dtype != edit_.value(result).dtype) {
      return false;
    }
    const Dims& dims = edit_.dims(row.value);
    const int64_t columns = edit_.dims(result)[1];
    const bool is_row = !dims.empty() && dims[dims.size() - 1] == columns && element_count(dims) == columns;
    if (!is_row || edit_.dims(sum).empty() || edit_.dims(sum)[edit_.dims(sum).size() - 1] != columns) return false;
    Node changed = *product;
    ValueId created = output;
    if (edit_.dims(result) != edit_.dims(output)) {
      created = edit_.result(edit_.value(output).dtype, edit_.dims(result));
      if (!edit_.alias(output, created)) return false;
    }
    changed.inputs.push_back({edit_.reshaped(row.value, {columns}), false});
    changed.outputs = {created};
    edit_.emit(std::move(changed));
    return true;
  }

  Editor& edit_;
};

}  // namespace

Status fold_into_products(Graph* graph) { return rewrite<Folder>(graph); }

}  // namespace softnpu::graph
