#pragma once
// The two phases as the generated entry points call them.

#include <utility>

#include "base/border.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Phase one of `op` (a literal): `make` fills the plan or says why it cannot.
template <typename Make>
aclnnStatus plan_operator(const char* op, uint64_t* workspace_size, aclOpExecutor** executor, Make&& make) {
  return api(op, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(not_null(workspace_size, "workspaceSize"));
    SOFTNPU_RETURN_IF_ERROR(not_null(executor, "executor"));
    Plan plan;
    SOFTNPU_RETURN_IF_ERROR(std::forward<Make>(make)(&plan));
    return make_executor(op, std::move(plan), workspace_size, executor);
  });
}

// Phase two of `op`.
inline aclnnStatus launch_operator(const char* op, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                                   aclrtStream stream) {
  return api(op, [&] { return launch_executor(op, workspace, workspace_size, executor, stream); });
}

}  // namespace softnpu
