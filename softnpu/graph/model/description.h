#pragma once
// The description of one operator: what a single-operator model has.

#include <string>
#include <string_view>

#include "graph/ir/graph.h"
#include "nnopbase/typed_call.h"

namespace softnpu::graph {

std::string serialize(const TypedCall& description);
Status deserialize(std::string_view bytes, TypedCall* out);

// The graph of this one operator, whose inputs and outputs are the operator's. An error if a size is open.
Status graph_of(const TypedCall& description, Graph* out);

}  // namespace softnpu::graph
