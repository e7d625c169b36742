#pragma once
// Makes a step of a plan from a class that uses oneDNN.

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <type_traits>

#include "fusion/fusion_root.h"
#include "ops/nn/conv/step.h"

namespace softnpu {

// `Implementation` is constructed from the problem, and may be a FusionRoot.
template <typename Implementation>
Attempt<Step> onednn_step(const ConvProblem& problem) {
  try {
    const auto output = std::make_shared<const Implementation>(problem);
    Step step{output->workspace_bytes(), problem.flops(), [output](char* workspace) { output->run(workspace); }};
    if constexpr (requires { output->packed_bytes(); }) step.packed_bytes = output->packed_bytes();
    if constexpr (std::is_base_of_v<FusionRoot, Implementation>) {
      if (output->is_fusible()) step.fusible = output;
    }
    return step;
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return Refusal{"oneDNN has no implementation"};
  }
}

}  // namespace softnpu
