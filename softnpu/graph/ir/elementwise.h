#pragma once
// Which operators compute element by element.

#include "graph/ir/graph.h"

namespace softnpu::graph {

// Whether a node computes each element of its one result from the elements of its operands at the same position, after
// broadcasting.
bool is_elementwise(const Node& node);

}  // namespace softnpu::graph
