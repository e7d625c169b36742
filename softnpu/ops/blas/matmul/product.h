#pragma once
// The plan of a product that may start a fusion group.

#include <memory>

#include "fusion/fusion_root.h"
#include "nnopbase/plan.h"
#include "ops/blas/matmul/problem.h"

namespace softnpu {

// `Implementation` is a FusionRoot that is constructed from the problem and has describe().
template <typename Implementation>
Plan plan_product(const MatmulProblem& problem) {
  const auto result = std::make_shared<const Implementation>(problem);
  Plan plan{result->workspace_bytes(), problem.flops(),
            [result](void* workspace) {
              result->run(workspace);
              return Status::ok();
            },
            [result] { return result->describe(); }};
  if (result->is_fusible()) plan.fusible = result;
  return plan;
}

}  // namespace softnpu
