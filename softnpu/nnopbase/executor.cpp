#include "nnopbase/executor.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "base/border.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "softnpu/softnpu.h"

struct aclOpExecutor {
  const char* op = "";
  softnpu::Plan plan;
  bool repeatable = false;
};

namespace softnpu {
namespace {

// The executors that wait for a launch. A handle is only ever looked up here, so a dead one is found out.
class Registry {
 public:
  aclOpExecutor* add(std::shared_ptr<aclOpExecutor> executor) {
    aclOpExecutor* handle = executor.get();
    std::lock_guard lock(mutex_);
    live_.emplace(handle, std::move(executor));
    return handle;
  }

  // The executor for one launch by `op`; one that is not repeatable is handed out for good.
  Status take(const char* op, aclOpExecutor* handle, std::shared_ptr<aclOpExecutor>* out) {
    std::lock_guard lock(mutex_);
    auto it = live_.find(handle);
    if (it == live_.end()) return unknown(handle);
    if (std::strcmp(it->second->op, op) != 0) {
      return {ACLNN_ERR_PARAM_INVALID, text("the executor was made by ", it->second->op, "GetWorkspaceSize")};
    }
    *out = it->second;
    if (!it->second->repeatable) live_.erase(it);
    return Status::ok();
  }

  Status set_repeatable(aclOpExecutor* handle) {
    std::lock_guard lock(mutex_);
    auto it = live_.find(handle);
    if (it == live_.end()) return unknown(handle);
    it->second->repeatable = true;
    return Status::ok();
  }

  Status remove(aclOpExecutor* handle) {
    std::shared_ptr<aclOpExecutor> removed;  // destroyed after the lock is gone
    std::lock_guard lock(mutex_);
    auto it = live_.find(handle);
    if (it == live_.end()) return unknown(handle);
    removed = std::move(it->second);
    live_.erase(it);
    return Status::ok();
  }

 private:
  static Status unknown(const aclOpExecutor* handle) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("executor ", handle, " was launched before, destroyed or never made; one executor serves one launch ",
                 "unless aclSetAclOpExecutorRepeatable was called")};
  }

  std::mutex mutex_;  // guards live_
  std::unordered_map<const aclOpExecutor*, std::shared_ptr<aclOpExecutor>> live_;
};

Registry& registry() {
  static NoDestroy<Registry> instance;
  return instance.get();
}

Status run(const Plan& plan, void* workspace) {
  try {
    return plan.run(workspace);
  } catch (const std::exception& e) {
    return {ACLNN_ERR_INNER, e.what()};
  }
}

struct LaunchState {
  std::shared_ptr<aclOpExecutor> executor;
  void* workspace = nullptr;
};

aclError run_launch(void* opaque, char* message, size_t size) {
  auto& state = *static_cast<LaunchState*>(opaque);
  const Plan& plan = state.executor->plan;
  Status status = run(plan, state.workspace);
  if (!status.is_ok()) {
    const std::string said = plan.describe ? text(plan.describe(), ": ", status.message()) : status.message();
    said.copy(message, size - 1);
    message[std::min(size - 1, said.size())] = '\0';
  }
  return status.code();
}

}  // namespace

Status make_executor(const char* op, Plan plan, uint64_t* workspace_size, aclOpExecutor** executor) {
  auto made = std::make_shared<aclOpExecutor>();
  made->op = op;
  made->plan = std::move(plan);
  *workspace_size = made->plan.workspace_bytes;
  *executor = registry().add(std::move(made));
  return Status::ok();
}

Status launch_executor(const char* op, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                       aclrtStream stream) {
  auto state = std::make_unique<LaunchState>();
  SOFTNPU_RETURN_IF_ERROR(registry().take(op, executor, &state->executor));
  const Plan& plan = state->executor->plan;
  if (workspace_size < plan.workspace_bytes) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("a workspace of ", workspace_size, " bytes, where ", plan.workspace_bytes, " are needed")};
  }
  if (plan.workspace_bytes > 0 &&
      softnpuKernelAddress(workspace, plan.workspace_bytes, &state->workspace) != ACL_SUCCESS) {
    return {ACLNN_ERR_PARAM_INVALID, text("the workspace ", workspace, " does not lie in one allocation of ",
                                          plan.workspace_bytes, " bytes of device memory")};
  }
  softnpuTask task{op, plan.is_small ? 1 : 0, &run_launch,
                   [](void* opaque) { std::unique_ptr<LaunchState>(static_cast<LaunchState*>(opaque)).reset(); },
                   state.release()};
  if (softnpuLaunch(stream, &task) == ACL_SUCCESS) return Status::ok();
  const char* reason = aclGetRecentErrMsg();
  return {ACLNN_ERR_RUNTIME_ERROR, reason == nullptr ? "the launch failed" : reason};
}

}  // namespace softnpu

using softnpu::api;

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return api("aclSetAclOpExecutorRepeatable", [&] { return softnpu::registry().set_repeatable(executor); });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return api("aclDestroyAclOpExecutor", [&] { return softnpu::registry().remove(executor); });
}
