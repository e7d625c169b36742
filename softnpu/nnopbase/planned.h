#pragma once
// The object of an aclOpExecutor*. The handle is a pool name, no address: a dead one is always detected.

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/pool.h"
#include "base/text.h"
#include "nnopbase/executor.h"
#include "nnopbase/launch_template.h"
#include "softnpu/launch.h"

namespace softnpu {

// A plan that may be launched any number of times.
struct Repeatable {
  std::mutex mutex;                                // guards all members below
  std::shared_ptr<const LaunchTemplate> launched;  // shared with running launches
  std::unique_ptr<const BoundCall> call;           // null if the operator cannot be planned again
  std::vector<void*> addresses;                    // of the call's tensors in the next launch
  bool is_stale = false;                           // an address was replaced since `launched` was made
};

// An executor, from phase one on; the task, once launched.
struct Planned {
  explicit Planned(const char* op) : own{op, {}, nullptr} {}

  const LaunchTemplate& launched() const { return shared != nullptr ? *shared : own; }

  LaunchTemplate own;
  std::shared_ptr<const LaunchTemplate> shared;  // of a repeatable executor
  LaunchContext context;
  softnpuFusible fusible = {};
  PendingPlan::Keep keep = nullptr;
  std::shared_ptr<Repeatable> repeatable;
  alignas(std::max_align_t) unsigned char arguments[PendingPlan::kArgumentBytes];
};

Pool<Planned>& executors();

// Guards the shared objects in executors().
std::mutex& shared_mutex();

inline uint64_t name_of(const aclOpExecutor* handle) { return reinterpret_cast<uintptr_t>(handle); }

// The repeatable executor of this name and its operator; null if there is none.
std::shared_ptr<Repeatable> find_repeatable(const aclOpExecutor* handle, const char** op);

Status unknown_executor(const aclOpExecutor* handle);

// A claimed executor for one launch: no handle names it.
inline Planned* make_launch(const char* op) { return executors().claim(executors().name(executors().make(op))); }

// Finds the address at which kernels access the workspace of `plan`; left alone if the plan needs none.
Status find_workspace(const Plan& plan, const void* workspace, void** kernel);

// Submits a claimed executor to the stream, which takes ownership.
Status submit(Planned* planned, aclrtStream stream);

}  // namespace softnpu
