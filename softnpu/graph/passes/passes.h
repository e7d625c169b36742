#pragma once
// What makes a graph faster before it is planned. A pass only picks other rows of ops/registry for nodes; its result
// differs by rounding at most.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace softnpu::graph {

struct Pass {
  std::string_view name;
  std::string_view does;  // in one sentence
  Status (*run)(Graph* graph);
};

// In the order in which they run.
std::span<const Pass> all_passes();

struct PassOptions {
  std::vector<std::string> off;  // names of passes that do not run; "all": none does
  // Gets the graph before the first pass (with the name "lowered") and after each.
  std::function<void(std::string_view pass, const Graph& graph)> dump;
};

// Fails if a name of `off` is that of no pass.
Status check_names(const std::vector<std::string>& off);
// Needs a current device.
Status run_passes(const PassOptions& options, Graph* graph);

// The passes, each in a file of its own name.

Status fold_constants(Graph* graph);
Status merge_common_subexpressions(Graph* graph);
Status recognize_activations(Graph* graph);
Status recognize_clips(Graph* graph);
Status recognize_gates(Graph* graph);
Status recognize_layer_norms(Graph* graph);
Status recognize_rms_norms(Graph* graph);
Status recognize_rotary_embeddings(Graph* graph);
Status fold_into_convolutions(Graph* graph);
Status fold_into_products(Graph* graph);
Status eliminate_transposes(Graph* graph);
Status recognize_attention(Graph* graph);

}  // namespace softnpu::graph
