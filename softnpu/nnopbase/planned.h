#pragma once
// The object of an aclOpExecutor*. The handle is a pool name, no address: a dead one is always detected.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "base/pool.h"
#include "base/text.h"
#include "nnopbase/executor.h"
#include "softnpu/launch.h"

namespace softnpu {

// A plan that may be launched any number of times.
struct Repeatable {
  std::mutex mutex;                  // guards all members below
  std::shared_ptr<const Plan> plan;  // shared with running launches
  std::unique_ptr<BoundCall> call;   // null if the operator cannot be planned again
  bool is_stale = false;             // an address was replaced since `plan` was made
};

struct FreeHostBlock {
  void operator()(void* block) const { std::free(block); }
};
using HostBlock = std::unique_ptr<void, FreeHostBlock>;

// An executor, from phase one on; the task, once launched.
struct Planned {
  explicit Planned(const char* name) : op(name) {}

  const char* op;
  Plan plan;
  void* workspace = nullptr;
  softnpuFusible fusible = {};
  uint64_t launched_at = 0;  // write epoch at the launch
  int threads = 1;           // the number of threads that it may use
  HostBlock own_workspace;   // for plans launched without an executor
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

// Submits a claimed executor to the stream, which takes ownership.
Status submit(Planned* planned, aclrtStream stream);

}  // namespace softnpu
