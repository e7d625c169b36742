#pragma once
// The executor between aclnn's two phases: a checked plan that waits for its launch. Operators use plan_operator().

#include <cstddef>
#include <cstdint>
#include <memory>

#include "aclnn/aclnn_base.h"
#include "base/status.h"
#include "nnopbase/bound_call.h"
#include "nnopbase/plan.h"

namespace softnpu {

struct Planned;  // an executor's inside

// An executor that is being made by phase one of `op` (its C name without the phase, a literal). Without hand_out()
// nothing remains of it.
class ACL_FUNC_VISIBILITY PendingPlan {
 public:
  static constexpr size_t kArgumentBytes = 512;
  // Copies a call whose arguments lie at `arguments`.
  using Keep = Status (*)(const void* arguments, std::unique_ptr<BoundCall>* out);

  explicit PendingPlan(const char* op);
  PendingPlan(const PendingPlan&) = delete;
  PendingPlan& operator=(const PendingPlan&) = delete;
  ~PendingPlan();

  Plan* plan();
  // Room for a trivially destructible record of the call, of kArgumentBytes; `keep` reads it if the executor is made
  // repeatable.
  void* arguments(Keep keep);
  // Fails where the plan's workspace does not fit into 64 bits.
  Status hand_out(uint64_t* workspace_size, aclOpExecutor** executor);

 private:
  Planned* planned_;
};

// Ends phase one of `op` with a plan whose addresses cannot be replaced.
ACL_FUNC_VISIBILITY Status make_executor(const char* op, Plan plan, uint64_t* workspace_size, aclOpExecutor** executor);

// Phase two of `op`. An executor that is unknown, used up or another operator's is an error; one that meets too small a
// workspace, or another operator, may be launched again.
ACL_FUNC_VISIBILITY Status launch_executor(const char* op, void* workspace, uint64_t workspace_size,
                                           aclOpExecutor* executor, aclrtStream stream);

// Launches the plan of `op`, which lives as long as the process, without an executor: its workspace is host memory of
// the launch's own.
ACL_FUNC_VISIBILITY Status launch_plan(const char* op, Plan plan, aclrtStream stream);

}  // namespace softnpu
