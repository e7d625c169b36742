#pragma once
// An operator's two C functions are two calls:
//
//   aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor* self, const aclTensor* other, const aclScalar* alpha,
//                                        aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
//     constexpr auto plan = [](const aclTensor* self, const aclTensor* other, const aclScalar* alpha, aclTensor* out,
//                              Plan* plan) -> Status {
//       SOFTNPU_RETURN_IF_ERROR(not_null(self, "self"));   // each argument that is not optional
//       ...
//       return ops::add(*self, *other, *alpha, *out, plan);
//     };
//     return plan_operator("aclnnAdd", workspaceSize, executor, plan, self, other, alpha, out);
//   }
//   aclnnStatus aclnnAdd(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream) {
//     return launch_operator("aclnnAdd", workspace, size, executor, stream);
//   }
//
// The planner captures nothing and takes the C function's arguments with their C types: that is how a repeatable
// executor plans again, with copies of the arguments, once aclSetInputTensorAddr or its sisters have replaced an
// address. An aclTensor* is an output, a const aclTensor* an input. Handles that were destroyed never reach the
// planner; null does. The planner may be called on another thread and must not keep the arguments.

#include <cstddef>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>

#include "base/border.h"
#include "base/text.h"
#include "nnopbase/executor.h"
#include "nnopbase/written.h"

namespace softnpu {

// Not inline: the way to the errors is not the way to the plan.
ACL_FUNC_VISIBILITY Status dead_argument(size_t position);

template <typename Planner, typename... Args>
Status keep_call(const void* arguments, std::unique_ptr<KeptCall>* out) {
  const auto& args = *static_cast<const std::tuple<Args...>*>(arguments);
  const bool live = std::apply([](const Args&... arg) { return (is_live_or_null(arg) && ...); }, args);
  if (!live) {
    return {ACLNN_ERR_PARAM_INVALID, "an argument of the call was destroyed before the executor was made repeatable"};
  }
  *out = std::make_unique<KeptCallOf<Planner, Args...>>(args);
  return Status::ok();
}

// Phase one of `op`, a literal: checks the handles, plans, hands the plan out as an executor.
template <typename Planner, typename... Args>
aclnnStatus plan_operator(const char* op, uint64_t* workspace_size, aclOpExecutor** executor, const Planner& planner,
                          Args... args) {
  static_assert(std::is_empty_v<Planner> || sizeof...(Args) == 0, "a planner of arguments captures nothing");
  return api(op, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(not_null(workspace_size, "workspaceSize"));
    SOFTNPU_RETURN_IF_ERROR(not_null(executor, "executor"));
    size_t position = 0;
    if (!((++position, is_live_or_null(args)) && ...)) return dead_argument(position);
    PendingPlan pending(op);
    SOFTNPU_RETURN_IF_ERROR(planner(args..., pending.plan()));
    (add_if_written(args, pending.plan()), ...);
    if constexpr (sizeof...(Args) > 0) {
      using Arguments = std::tuple<Args...>;
      static_assert(sizeof(Arguments) <= PendingPlan::kArgumentBytes && std::is_trivially_destructible_v<Arguments>);
      ::new (pending.arguments(&keep_call<Planner, Args...>)) Arguments(args...);
    }
    pending.hand_out(workspace_size, executor);
    return Status::ok();
  });
}

// Phase two of `op`.
inline aclnnStatus launch_operator(const char* op, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                                   aclrtStream stream) {
  return api(op, [&] { return launch_executor(op, workspace, workspace_size, executor, stream); });
}

}  // namespace softnpu
