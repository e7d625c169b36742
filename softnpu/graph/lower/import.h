#pragma once
// Lowers a model of ONNX to a graph.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/lower/aipp.h"
#include "graph/lower/call.h"

namespace softnpu::graph {

struct ImportOptions {
  std::map<std::string, Ints> input_sizes;           // of inputs whose sizes the model leaves open
  std::vector<std::string> outputs;                  // names of values; empty: the model's own
  aclDataType output_dtype = ACL_DT_UNDEFINED;       // of all other outputs; undefined: the model's own
  std::map<std::string, aclDataType> output_dtypes;  // of some of them
  bool allows_hf32 = false;  // convolutions and products of float32 may have the precision of HF32
  std::vector<Aipp> aipps;   // preprocessing of images, for models of fixed sizes

  aclDataType dtype_of_output(const std::string& name) const;
};

// Needs a current device. Errors name the node, and all missing operators at once.
Status import_model(const onnx::Model& model, const ImportOptions& options, Graph* out);

// Fails if operators are missing, and names them all; needs no sizes.
Status check_operators(const onnx::Model& model);

// The inputs that a run gives, with their sizes: "x:1,3,?,? (float); y:batch (int64)".
std::string list_inputs(const onnx::Model& model);
// Fails if sizes, which may be -1, are those of no input or do not fit it; names the inputs.
Status check_input_sizes(const onnx::Model& model, const std::map<std::string, Ints>& sizes);

// Values by their names, of a graph and those around it.
struct Scope {
  const Scope* outer = nullptr;
  std::map<std::string, ValueId, std::less<>> values;

  const ValueId* find(std::string_view name) const;
};

class Importer {
 public:
  explicit Importer(const onnx::Model& model) : model_(model) {}

  Status run(const ImportOptions& options, Graph* out);
  void check_operators() const;
  // Lowers the nodes of a graph in an attribute; returns its outputs. `inputs` are the values of its inputs.
  std::vector<ValueId> inline_graph(const onnx::GraphDef& graph, const std::vector<ValueId>& inputs);

 private:
  void add_inputs(const ImportOptions& options, Scope* scope);
  void add_initializers(const onnx::GraphDef& graph, Scope* scope);
  void lower_nodes(const std::vector<onnx::NodeDef>& nodes, const std::map<std::string, int64_t>& opsets, Scope* scope);
  void lower_node(const onnx::NodeDef& node, const std::map<std::string, int64_t>& opsets, Scope* scope);
  void inline_function(const onnx::FunctionDef& function, const onnx::NodeDef& node, const std::vector<ValueId>& inputs,
                       Scope* scope);
  void set_outputs(const std::vector<std::string>& names, const ImportOptions& options, const Scope& scope);
  const onnx::FunctionDef* find_function(const onnx::NodeDef& node) const;

  const onnx::Model& model_;
  Builder builder_;
  const Scope* scope_ = nullptr;  // of the node that is lowered
  int nesting_ = 0;
};

}  // namespace softnpu::graph
