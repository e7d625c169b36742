#pragma once
// What lies behind an aclOpExecutor*, which is a name in a pool and no address: a dead one is always found out.

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
  std::mutex mutex;                  // guards all below
  std::shared_ptr<const Plan> plan;  // shared with the launches that are under way
  std::unique_ptr<BoundCall> call;   // null where the operator cannot plan again
  bool is_stale = false;             // an address was replaced since `plan` was made
};

struct FreeHostBlock {
  void operator()(void* block) const { std::free(block); }
};
using HostBlock = std::unique_ptr<void, FreeHostBlock>;

// An executor, from phase one on; when it is launched it is the task.
struct Planned {
  explicit Planned(const char* name) : op(name) {}

  const char* op;
  Plan plan;
  void* workspace = nullptr;
  softnpuFusible fusible = {};
  uint64_t launched_at = 0;  // by the write clock
  int threads = 1;           // that it may use
  HostBlock own_workspace;   // of a plan that was launched without an executor
  PendingPlan::Keep keep = nullptr;
  std::shared_ptr<Repeatable> repeatable;
  alignas(std::max_align_t) unsigned char arguments[PendingPlan::kArgumentBytes];
};

Pool<Planned>& executors();

// Guards what is shared in executors().
std::mutex& shared_mutex();

inline uint64_t name_of(const aclOpExecutor* handle) { return reinterpret_cast<uintptr_t>(handle); }

// The repeatable executor of this name and its operator; null where there is none.
std::shared_ptr<Repeatable> find_repeatable(const aclOpExecutor* handle, const char** op);

Status unknown_executor(const aclOpExecutor* handle);

// An executor for one launch, claimed: nobody else knows it.
inline Planned* make_launch(const char* op) { return executors().claim(executors().name(executors().make(op))); }

// Gives a claimed executor to the stream.
Status submit(Planned* planned, aclrtStream stream);

}  // namespace softnpu
