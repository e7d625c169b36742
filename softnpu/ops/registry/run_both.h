#pragma once
// Operators of several steps.

#include <memory>
#include <utility>

#include "nnopbase/plan.h"

namespace softnpu {

// Runs one plan, then the other, in one workspace.
inline void run_both(Plan one, Plan other, Plan* plan) {
  plan->workspace_bytes = larger(one.workspace_bytes, other.workspace_bytes);
  plan->work = one.work + other.work;
  auto steps = std::make_shared<std::pair<Plan, Plan>>(std::move(one), std::move(other));
  plan->run = [steps = std::move(steps)](void* workspace) {
    SOFTNPU_RETURN_IF_ERROR(steps->first.run(workspace));
    return steps->second.run(workspace);
  };
}

}  // namespace softnpu
