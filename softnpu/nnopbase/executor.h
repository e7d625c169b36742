#pragma once
// The executor between aclnn's two phases: a checked plan that waits for its launch.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "aclnn/aclnn_base.h"
#include "base/status.h"

namespace softnpu {

// What phase one decides about one call.
struct Plan {
  uint64_t workspace_bytes = 0;
  bool is_small = false;  // serial and done within a few microseconds
  // Does the work. `workspace` is where a kernel on the host may write it. Any thread, once a launch.
  std::function<Status(void* workspace)> run;
  // What it is called with, for the message of a failed run: "(float32[2, 3], float32[3, 4])". May be empty.
  std::function<std::string()> describe = nullptr;
};

// Ends phase one of `op` (its C name without the phase, a literal): hands the plan out as an executor.
ACL_FUNC_VISIBILITY Status make_executor(const char* op, Plan plan, uint64_t* workspace_size, aclOpExecutor** executor);

// Phase two of `op`. An executor that is unknown, used up or another operator's is an error.
ACL_FUNC_VISIBILITY Status launch_executor(const char* op, void* workspace, uint64_t workspace_size,
                                           aclOpExecutor* executor, aclrtStream stream);

}  // namespace softnpu
