#pragma once
// Makes a step of a plan from a class that uses oneDNN.

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <type_traits>

#include "fusion/fusion_root.h"
#include "ops/nn/conv/step.h"

namespace softnpu {

// `Made` is constructed from the problem, and may be a FusionRoot.
template <typename Made>
Attempt<Step> onednn_step(const ConvProblem& problem) {
  try {
    const auto made = std::make_shared<const Made>(problem);
    Step step{made->workspace_bytes(), problem.flops(), [made](char* workspace) { made->run(workspace); }};
    if constexpr (requires { made->packed_bytes(); }) step.packed_bytes = made->packed_bytes();
    if constexpr (std::is_base_of_v<FusionRoot, Made>) {
      if (made->is_fusible()) step.fusible = made;
    }
    return step;
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return Refusal{"oneDNN has no implementation"};
  }
}

}  // namespace softnpu
