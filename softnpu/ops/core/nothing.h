#pragma once
// Plans that have nothing to do.

#include "nnopbase/plan.h"

namespace softnpu {

inline Status plan_nothing(Plan* plan) {
  plan->work = 0;
  plan->run = [](void*) { return Status::ok(); };
  return Status::ok();
}

inline Plan no_work() {
  Plan plan;
  static_cast<void>(plan_nothing(&plan));
  return plan;
}

}  // namespace softnpu
