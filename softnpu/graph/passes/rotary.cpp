// Rotary position embeddings that a model spells out: x cos + [-b, a] sin, where a and b are the halves of x along its
// last dimension.

#include "graph/passes/editor.h"
#include "graph/passes/halves.h"
#include "graph/passes/passes.h"

namespace softnpu::graph {
namespace {

class Recognizer {
 public:
  explicit Recognizer(Editor* editor) : edit_(*editor) {}

  bool operator()(const Node& node) { return rotary(node); }

 private:
  // A value that only one operand uses.
  bool is_own(ValueId id) const { return id != kNoValue && edit_.uses(id) == 1 && !edit_.is_output(id); }

  // x in [-b, a]; kNoValue if `id` is none.
  ValueId rotated(ValueId id) const {
    const Node* both = edit_.producer(id, "ConcatD");
    if (both == nullptr || both->inputs.size() != 2) return kNoValue;
    const Node* negative = edit_.producer(both->inputs[0].value, "Neg");
    if (negative == nullptr) return kNoValue;
    size_t dim = 0;
    const ValueId x = whole_of(edit_, both->inputs[1].value, negative->inputs[0].value, &dim);
    const auto along = attribute(*both, "concat_dim", int64_t{0});
    const bool is_last = x != kNoValue && dim + 1 == edit_.dims(x).size() && along == static_cast<int64_t>(dim);
    return is_last ? x : kNoValue;
  }

  // The other factor of a product with `x`; kNoValue if `id` is none.
  ValueId cofactor(ValueId id, ValueId x) const {
    const Node* product = edit_.producer(id, "Mul");
    if (product == nullptr || product->inputs.size() != 2) return kNoValue;
    for (size_t i = 0; i < 2; ++i) {
      if (product->inputs[i].value == x && !product->inputs[1 - i].on_host) return product->inputs[1 - i].value;
    }
    return kNoValue;
  }

  // A table of cosines or sines: of x's type, with a whole row of its last dimension.
  bool fits(ValueId table, const Value& x) const {
    const Value& value = edit_.value(table);
    return value.dtype == x.dtype && !value.dims.empty() && value.dims.size() <= x.dims.size() &&
           value.dims.back() == x.dims.back();
  }

  bool rotary(const Node& node) {
    if (node.type != "Add" || node.inputs.size() != 2) return false;
    for (size_t i = 0; i < 2; ++i) {
      const Node* product = edit_.producer(node.inputs[1 - i].value, "Mul");
      if (product == nullptr || product->inputs.size() != 2 || !is_own(node.inputs[0].value) ||
          !is_own(node.inputs[1].value)) {
        continue;
      }
      for (size_t k = 0; k < 2; ++k) {
        const ValueId x = rotated(product->inputs[k].value);
        if (x == kNoValue || product->inputs[1 - k].on_host) continue;
        const ValueId sine = product->inputs[1 - k].value;
        const ValueId cosine = cofactor(node.inputs[i].value, x);
        const Value& value = edit_.value(x);
        const bool is_floating = value.dtype == ACL_FLOAT || value.dtype == ACL_FLOAT16 || value.dtype == ACL_BF16;
        if (cosine == kNoValue || !is_floating || !fits(cosine, value) || !fits(sine, value)) continue;
        if (edit_.dims(node.outputs[0]) != value.dims) continue;
        edit_.emit(simple_node("softnpuRotary", node, {{x}, {cosine}, {sine}}, node.outputs[0]));
        return true;
      }
    }
    return false;
  }

  Editor& edit_;
};

}  // namespace

Status recognize_rotary_embeddings(Graph* graph) { return rewrite<Recognizer>(graph); }

}  // namespace softnpu::graph
