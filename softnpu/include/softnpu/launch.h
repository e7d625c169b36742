#pragma once
// How softnpu's libraries give work to a stream. Included by softnpu.h.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// What decides where work on an idle stream runs.
typedef enum softnpuCost {
  SOFTNPU_COST_LARGE = 0,  // on the device's executor
  SOFTNPU_COST_SMALL = 1,  // serial, tens of microseconds at most: on the caller's thread
  // Over, with several threads, before handing it over would have paid: on the caller's thread, unless the executor ran
  // something of late, since its threads would be in the way.
  SOFTNPU_COST_SHORT = 2,
} softnpuCost;

// How tasks of one kind are fused.
typedef struct softnpuFusion {
  // Analyses `count` consecutive tasks of a stream by their `state`s. lastReaders[i] is the last of them that may read
  // what task i writes, SIZE_MAX where tasks behind them may. Returns how many, from the first on, run as one group; at
  // least 1. Where it is more `*group` is made, and released once.
  size_t (*analyse)(void* const* states, const size_t* lastReaders, size_t count, void** group);
  // Does the work of all tasks of the group, the first of which has `firstState`. On failure it returns an aclError and
  // writes a sentence of at most `size` bytes.
  aclError (*run)(void* group, void* firstState, char* message, size_t size);
  void (*release)(void* group);
} softnpuFusion;

// A task as a candidate for fusion.
typedef struct softnpuFusible {
  const softnpuFusion* fusion;  // tasks with the same functions may be fused
  void* state;                  // what `fusion` gets of the task
  const void* output;           // device memory that it writes and softnpuOutputDead may report; or null
} softnpuFusible;

// A range of device memory.
typedef struct softnpuRange {
  const void* address;
  size_t bytes;
} softnpuRange;

// Work that one of softnpu's libraries gives to a stream.
typedef struct softnpuTask {
  const char* name;  // the operator's, a literal
  int32_t cost;      // a softnpuCost
  // Does the work, as often as it is called. On failure it returns an aclError and writes a sentence of at most `size`
  // bytes.
  aclError (*run)(void* state, char* message, size_t size);
  void (*release)(void* state);  // called exactly once: after the last run, when the work is dropped or not launched
  void* state;
  const softnpuFusible* fusible;  // null where it always runs alone; lives until `release`. SOFTNPU_FUSE=0 ignores it
  const softnpuRange* written;    // what the work writes: its launch raises their write epochs (memory_events.h)
  size_t writtenCount;
} softnpuTask;

// Enqueues `task`. Its failure is returned by the stream's next synchronisation.
ACL_FUNC_VISIBILITY aclError softnpuLaunch(aclrtStream stream, const softnpuTask* task);

// The write epoch at the launch of the task that the calling thread runs, taken before the launch raised those of what
// the task writes. 0 outside of tasks.
ACL_FUNC_VISIBILITY uint64_t softnpuLaunchEpoch(void);

// For an allocator: [address, address + bytes) was freed, and no task that is given to `stream` or another from now on
// reads what it holds. A task of the stream that has not run yet and whose output is there need not store it.
ACL_FUNC_VISIBILITY aclError softnpuOutputDead(aclrtStream stream, const void* address, size_t bytes);

// What a task's run returns where an index that it read is out of range. The program sees 161002 (a wrong argument).
#define SOFTNPU_INDEX_ERROR (-161002)

// What failed, of the calling thread's newest error.
enum {
  SOFTNPU_CAUSE_CALL = 0,   // the call itself
  SOFTNPU_CAUSE_TASK = 1,   // a task that was launched before
  SOFTNPU_CAUSE_INDEX = 2,  // the same because of an index out of range
};
ACL_FUNC_VISIBILITY int32_t softnpuRecentErrorCause(void);

// Makes `message` what aclGetRecentErrMsg says next on this thread.
ACL_FUNC_VISIBILITY void softnpuSetRecentError(const char* function, aclError code, const char* message);

#ifdef __cplusplus
}
#endif
