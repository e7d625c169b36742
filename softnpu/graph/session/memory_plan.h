#pragma once
// Where each value of a graph is in memory: weights, which stay, or the work memory, whose parts are used again as soon
// as their value is read for the last time.

#include <vector>

#include "graph/ir/graph.h"

namespace softnpu::graph {

struct Placement {
  enum class Region : uint8_t { kNone, kWeights, kShared, kWork, kParameter, kInput, kOutput };
  Region region = Region::kNone;  // kNone: no operator reads it in device memory
  size_t offset = 0;              // in bytes; of shared constants, inputs and outputs their number
};

struct MemoryPlan {
  std::vector<Placement> placements;  // of each value; a view's is that of its root
  // Of each node: it depends on constants and parameters only. It runs once, and again after a parameter was written.
  std::vector<bool> is_prologue;
  std::vector<bool> reads_parameters;  // of each node of the prologue: it depends on a parameter
  size_t weight_bytes = 0;
  size_t work_bytes = 0;
  std::vector<ValueId> shared;  // constants that several sessions have in common
};

// An elementwise node writes over an operand that is read for the last time. Takes time n log n for n nodes. With
// `shares` larger constants are outside of the session's weights.
MemoryPlan plan_memory(const Graph& graph, bool shares = false);

}  // namespace softnpu::graph
