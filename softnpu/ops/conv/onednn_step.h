#pragma once
// The part of a plan that one of oneDNN's users does.

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "ops/conv/step.h"

namespace softnpu {

// `Made` is a Producer that is made of the problem; nothing where its constructor meets what oneDNN refuses.
template <typename Made>
std::optional<Step> onednn_step(const ConvProblem& problem) {
  try {
    const auto made = std::make_shared<const Made>(problem);
    return Step{made->workspace_bytes(), problem.flops(), [made](char* workspace) { made->run(workspace); },
                made->may_produce() ? made : nullptr};
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return std::nullopt;
  }
}

}  // namespace softnpu
