#include "graph/passes/passes.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace softnpu::graph {
namespace {

constexpr std::array kPasses = {
    Pass{"constants", "computes nodes of constants", fold_constants},
    Pass{"common", "computes equal nodes once", merge_common_subexpressions},
    Pass{"transposes", "composes, moves and removes transposes", eliminate_transposes},
    Pass{"activations", "finds GELU, Swish and HardSwish", recognize_activations},
    Pass{"clips", "puts two bounds of one value into one operator", recognize_clips},
    Pass{"gates", "finds SwiGLU", recognize_gates},
    Pass{"layer-norm", "finds layer normalizations", recognize_layer_norms},
    Pass{"rms-norm", "finds RMS norms", recognize_rms_norms},
    Pass{"rotary", "finds rotary position embeddings", recognize_rotary_embeddings},
    Pass{"convolutions", "puts paddings, batch norms, factors and sums per channel into convolutions",
         fold_into_convolutions},
    Pass{"products", "puts transposes and biases into matrix products", fold_into_products},
    Pass{"attention", "finds attention over heads", recognize_attention},
};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

Status check_names(const std::vector<std::string>& off) {
  for (const std::string& name : off) {
    if (name == "all" || std::ranges::find(kPasses, name, &Pass::name) != kPasses.end()) continue;
    std::string known = "all";
    for (const Pass& pass : kPasses) known += text(", ", pass.name);
    return {ACL_ERROR_INVALID_PARAM, text("there is no pass ", name, "; there are ", known)};
  }
  return Status::ok();
}

Status run_passes(const PassOptions& options, Graph* graph) {
  SOFTNPU_RETURN_IF_ERROR(check_names(options.off));
  if (options.dump) options.dump("lowered", *graph);
  for (const Pass& pass : kPasses) {
    if (contains(options.off, "all") || contains(options.off, pass.name)) continue;
    SOFTNPU_RETURN_IF_ERROR(pass.run(graph));
    if (options.dump) options.dump(pass.name, *graph);
  }
  return check(*graph);
}

}  // namespace softnpu::graph
