#pragma once
// Where images have their channels last in memory: convolutions and pooling are faster there.

#include <vector>

#include "graph/ir/graph.h"

namespace softnpu::graph {

// Of each value: whether it is an image [N, C, H, W] whose channels lie next to each other. These are results that only
// operators read and write which take images in any layout, connected to a convolution; operators that compute element
// by element have all their images in one layout. Inputs, outputs, constants and what a view reads are never among
// them.
std::vector<bool> values_with_channels_last(const Graph& graph);

}  // namespace softnpu::graph
