#pragma once
// Means over the last dimensions, as models spell norms out.

#include "graph/passes/editor.h"

namespace softnpu::graph {

// The number of last dimensions that a ReduceMean is over and keeps; 0 if it is over others.
size_t mean_dims(const Editor& edit, const Node& mean);

}  // namespace softnpu::graph
