#pragma once
// A graph as text: one line a node. Values are numbered in the order of the text, so equal graphs have equal texts.

#include <string>

#include "graph/ir/graph.h"

namespace softnpu::graph {

// "%2 = Conv2D(%0, const float32[4,3,3,3]) {groups: 1} : float32[1,4,8,8]", and so on.
std::string print(const Graph& graph);
// "float32"
std::string dtype_name(aclDataType dtype);

}  // namespace softnpu::graph
