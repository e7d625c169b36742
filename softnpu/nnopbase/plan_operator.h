#pragma once
// An operator's two C functions are two calls:
//
//   Status plan_add(const aclTensor* self, const aclTensor* other, const aclScalar* alpha, aclTensor* out, Plan* plan)
//   {
//     SOFTNPU_RETURN_IF_ERROR(not_null(self, "self"));   // each argument that is not optional
//     ...
//     return ops::add(*self, *other, *alpha, *out, plan);
//   }
//   aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor* self, const aclTensor* other, const aclScalar* alpha,
//                                        aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
//     return plan_operator("aclnnAdd", workspaceSize, executor, plan_add, self, other, alpha, out);
//   }
//   aclnnStatus aclnnAdd(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream) {
//     return launch_operator("aclnnAdd", workspace, size, executor, stream);
//   }
//
// The planner's parameters are those of the C function, with their C types. So a repeatable executor can plan again,
// with copies of the arguments, after aclSetTensorAddr or aclSetDynamicTensorAddr has replaced an address. An
// aclTensor* is an output, a const aclTensor* an input. The planner never gets destroyed handles; it may get null. It
// may be called on another thread and must not keep the arguments. The functions here depend only on the arguments'
// types and are not inline: operators of one signature share them.

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>

#include "base/border.h"
#include "base/text.h"
#include "nnopbase/call_tensors.h"
#include "nnopbase/executor.h"
#include "nnopbase/missing_memory.h"
#include "nnopbase/overlap.h"
#include "nnopbase/written.h"

namespace softnpu {

// Not inline: keeps the error path out of the planning code.
ACL_FUNC_VISIBILITY Status dead_argument(size_t position);

// A call's arguments, stored in a pending plan.
template <typename... Args>
struct CallArguments {
  Planner<Args...> planner;
  std::tuple<Args...> args;
};

template <typename... Args>
Status bind_call(const void* call, std::unique_ptr<BoundCall>* out) {
  const auto& given = *static_cast<const CallArguments<Args...>*>(call);
  const bool live = std::apply([](const Args&... arg) { return (is_live_or_null(arg) && ...); }, given.args);
  if (!live) {
    return {ACLNN_ERR_PARAM_INVALID, "an argument of the call was destroyed before the executor was made repeatable"};
  }
  *out = std::make_unique<BoundCallOf<Args...>>(given.planner, given.args);
  return Status::ok();
}

// Phase one of `op`, a literal: checks the handles, plans, returns the plan as an executor.
template <typename... Args>
requires(sizeof...(Args) > 0) [[gnu::noinline]] aclnnStatus
    plan_operator(const char* op, uint64_t* workspace_size, aclOpExecutor** executor,
                  std::type_identity_t<Planner<Args...>> planner, Args... args) {
  return api(op, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(not_null(workspace_size, "workspaceSize"));
    SOFTNPU_RETURN_IF_ERROR(not_null(executor, "executor"));
    size_t position = 0;
    if (!((++position, is_live_or_null(args)) && ...)) return dead_argument(position);
    position = 0;
    if (!((++position, has_distinct_elements(args)) && ...)) return overlapping_argument(position);
    using Given = CallArguments<Args...>;
    static_assert(sizeof(Given) <= PendingPlan::kArgumentBytes && std::is_trivially_destructible_v<Given>);
    if ((lacks_memory(args) || ...)) [[unlikely]] {
      const Given given{planner, {args...}};
      return plan_without_memory(
          op, &bind_call<Args...>, &given,
          [](void* storage, const void* call) { ::new (storage) Given(*static_cast<const Given*>(call)); },
          workspace_size, executor);
    }
    PendingPlan pending(op);
    SOFTNPU_RETURN_IF_ERROR(planner(args..., pending.plan()));
    if (softnpuWatchesOverflow() != 0) (collect_if_read(args), ...);
    (add_if_written(args, pending.plan()), ...);
    ::new (pending.arguments(&bind_call<Args...>)) Given{planner, {args...}};
    return pending.hand_out(workspace_size, executor);
  });
}

// Phase one of an operator without arguments, whose executor cannot be made repeatable: `planner` may capture anything.
template <std::invocable<Plan*> Body>
aclnnStatus plan_operator(const char* op, uint64_t* workspace_size, aclOpExecutor** executor, const Body& planner) {
  return api(op, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(not_null(workspace_size, "workspaceSize"));
    SOFTNPU_RETURN_IF_ERROR(not_null(executor, "executor"));
    PendingPlan pending(op);
    SOFTNPU_RETURN_IF_ERROR(planner(pending.plan()));
    return pending.hand_out(workspace_size, executor);
  });
}

// Phase two of `op`.
[[gnu::noinline]] inline aclnnStatus launch_operator(const char* op, void* workspace, uint64_t workspace_size,
                                                     aclOpExecutor* executor, aclrtStream stream) {
  return api(op, [&] { return launch_executor(op, workspace, workspace_size, executor, stream); });
}

}  // namespace softnpu
