#pragma once
// Plans of consecutive operators that run fused as one plan (fusion/README.md), for callers that know which values are
// dead.

#include <cstddef>
#include <memory>
#include <span>

#include "acl/acl_base.h"
#include "nnopbase/launch_template.h"

namespace softnpu {

// The most plans that are fused.
constexpr size_t kMaxFusedPlans = 16;

struct FusedPlan {
  size_t count = 1;                               // how many of the plans, from the first on
  std::shared_ptr<const LaunchTemplate> planned;  // null where the first one runs alone
};

// `last_readers[i]` is the number of the last plan that reads what plan i writes, SIZE_MAX where something behind them
// does. Runs of the fused plan must follow each other: they share a workspace.
ACL_FUNC_VISIBILITY Status fuse_plans(std::span<const std::shared_ptr<const LaunchTemplate>> plans,
                                      std::span<const size_t> last_readers, FusedPlan* out);

}  // namespace softnpu
