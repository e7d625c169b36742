// Gates of the halves of one tensor: SwiGLU, swish(a) b. Gates of two tensors are elementwise operators, which are
// fused with what makes them.

#include "graph/passes/editor.h"
#include "graph/passes/halves.h"
#include "graph/passes/passes.h"

namespace softnpu::graph {
namespace {

class Recognizer {
 public:
  explicit Recognizer(Editor* editor) : edit_(*editor) {}

  bool operator()(const Node& node) { return swiglu(node); }

 private:
  bool swiglu(const Node& node) {
    if (node.type != "Mul" || node.inputs.size() != 2) return false;
    for (size_t i = 0; i < 2; ++i) {
      const Node* swish = edit_.producer(node.inputs[i].value, "Swish");
      const bool is_own = edit_.uses(node.inputs[i].value) == 1 && !edit_.is_output(node.inputs[i].value);
      if (swish == nullptr || !is_own || attribute(*swish, "scale", 1.0F) != 1.0F) continue;
      size_t dim = 0;
      const ValueId x = whole_of(edit_, swish->inputs[0].value, node.inputs[1 - i].value, &dim);
      if (x == kNoValue || edit_.value(x).dtype != edit_.value(node.outputs[0]).dtype) continue;
      Node result = simple_node("softnpuSwiGlu", node, {{x}}, node.outputs[0]);
      result.attributes = with_attribute(result, "dim", static_cast<int64_t>(dim));
      edit_.emit(std::move(result));
      return true;
    }
    return false;
  }

  Editor& edit_;
};

}  // namespace

Status recognize_gates(Graph* graph) { return rewrite<Recognizer>(graph); }

}  // namespace softnpu::graph
