#pragma once
// The plan of a product that may start a fusion group.

#include <memory>

#include "fusion/fusion_root.h"
#include "nnopbase/plan.h"
#include "ops/blas/matmul/problem.h"

namespace softnpu {

// `Made` is a FusionRoot that is constructed from the problem and has describe().
template <typename Made>
Plan plan_product(const MatmulProblem& problem) {
  const auto made = std::make_shared<const Made>(problem);
  Plan plan{made->workspace_bytes(), problem.flops(),
            [made](void* workspace) {
              made->run(workspace);
              return Status::ok();
            },
            [made] { return made->describe(); }};
  if (made->is_fusible()) plan.fusible = made;
  return plan;
}

}  // namespace softnpu
