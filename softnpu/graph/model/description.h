#pragma once
// The description of one operator: what a single-operator model has.

#include <string>
#include <string_view>

#include "graph/ir/graph.h"
#include "nnopbase/registry_call.h"

namespace softnpu::graph {

std::string serialize(const RegistryCall& description);
Status deserialize(std::string_view bytes, RegistryCall* out);

// The graph of this one operator, whose inputs and outputs are the operator's. An error if a size is open.
Status graph_of(const RegistryCall& description, Graph* out);

}  // namespace softnpu::graph
