#pragma once
// A model whose sizes a run gives: its source, which is lowered again for each combination of sizes.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/ir/graph.h"
#include "graph/lower/import.h"
#include "graph/model/list_kind.h"

namespace softnpu::graph {

struct Source {
  Bytes onnx;                   // a serialized model
  onnx::ExternalData external;  // its tensors that are in other files
  ImportOptions import;         // sizes of inputs may be -1
  std::vector<std::string> passes_off;
  ListKind kind = ListKind::kNone;
  std::vector<Ints> list;  // one entry for each combination: the batch, height and width, or all open sizes in order
};

std::string serialize(const Source& source);
// The model of a source.
Status read_model(const Source& source, onnx::Model* out);
Status deserialize(std::string_view bytes, const std::shared_ptr<const void>& owner, Source* out);

// An input as a source describes it; open sizes are -1.
struct OpenTensor {
  std::string name;
  aclDataType dtype = ACL_FLOAT;
  Ints sizes;
};
std::vector<OpenTensor> inputs_of(const onnx::Model& model, const Source& source);
std::vector<OpenTensor> outputs_of(const onnx::Model& model, const Source& source);

// The sizes of all inputs for an entry of the list. Fails if the number of open sizes does not fit.
Status sizes_for(const std::vector<OpenTensor>& inputs, ListKind kind, const Ints& entry, std::vector<Ints>* out);
// Checks the sizes of one run.
Status check_sizes(const std::vector<OpenTensor>& inputs, const std::vector<Ints>& sizes);

// The graph for sizes of all inputs, after the passes.
Status lower(const onnx::Model& model, const Source& source, const std::vector<OpenTensor>& inputs,
             const std::vector<Ints>& sizes, Graph* out);

}  // namespace softnpu::graph
