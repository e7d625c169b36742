#pragma once
// The executor between aclnn's two phases: a checked plan that is ready for launch. Operators use plan_operator().

#include <cstddef>
#include <cstdint>
#include <memory>

#include "aclnn/aclnn_base.h"
#include "base/status.h"
#include "nnopbase/bound_call.h"
#include "nnopbase/plan.h"

namespace softnpu {

struct Planned;  // the contents of an executor

// An executor under construction in phase one of `op` (its C name without the phase, a literal). Destroyed unless
// hand_out() is called.
class ACL_FUNC_VISIBILITY PendingPlan {
 public:
  static constexpr size_t kArgumentBytes = 512;
  // Copies a call whose arguments are at `arguments`.
  using Keep = Status (*)(const void* arguments, std::unique_ptr<BoundCall>* out);

  explicit PendingPlan(const char* op);
  PendingPlan(const PendingPlan&) = delete;
  PendingPlan& operator=(const PendingPlan&) = delete;
  ~PendingPlan();

  Plan* plan();
  // kArgumentBytes of storage for a trivially destructible record of the call; `keep` reads it if the executor is made
  // repeatable.
  void* arguments(Keep keep);
  // Fails if the size of the plan's workspace does not fit into 64 bits.
  Status hand_out(uint64_t* workspace_size, aclOpExecutor** executor);

 private:
  Planned* planned_;
};

// Ends phase one of `op` with a plan whose addresses cannot be replaced.
ACL_FUNC_VISIBILITY Status make_executor(const char* op, Plan plan, uint64_t* workspace_size, aclOpExecutor** executor);

// Phase two of `op`. An executor that is unknown, already used or another operator's is an error. After an error
// because of the workspace's size or the operator it may be launched again.
ACL_FUNC_VISIBILITY Status launch_executor(const char* op, void* workspace, uint64_t workspace_size,
                                           aclOpExecutor* executor, aclrtStream stream);

// Launches the plan of `op`, which has the lifetime of the process, without an executor. The launch allocates its
// workspace in host memory.
ACL_FUNC_VISIBILITY Status launch_plan(const char* op, Plan plan, aclrtStream stream);

}  // namespace softnpu
