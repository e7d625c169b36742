#pragma once
// Events of the software NPU: launches, runs on the device, calls of the host. The one source of every profiler.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a recording wants, as bits.
enum {
  SOFTNPU_TRACE_TASKS = 1,    // launches and runs
  SOFTNPU_TRACE_CALLS = 2,    // calls of the host
  SOFTNPU_TRACE_DETAILS = 4,  // shapes and data types of tasks
  SOFTNPU_TRACE_MEMORY = 8,   // the memory of devices
  SOFTNPU_TRACE_MARKS = 16,   // marks and ranges of the program
};

typedef enum softnpuTraceKind {
  SOFTNPU_TRACE_LAUNCH = 1,  // [begin, end): of the call until the task was queued or ran; other: the task's number
  SOFTNPU_TRACE_RUN = 2,     // [begin, end): on the device; other: the number of tasks that ran fused, from this one on
  SOFTNPU_TRACE_MEMBER = 3,  // a task that ran fused with task `other`; position: its place in the group
  SOFTNPU_TRACE_DROPPED = 4,  // a task that never ran
  SOFTNPU_TRACE_DETAIL = 5,   // detail: of task `id`
  SOFTNPU_TRACE_CALL = 6,     // [begin, end): of the host's function `name`; id: the task that it launched, or 0
  SOFTNPU_TRACE_HEAP = 7,     // at begin; bytes: device memory in use
  SOFTNPU_TRACE_MARK = 8,     // [begin, end): detail: the message; name: the domain; id: the task in its stream, or 0
} softnpuTraceKind;

typedef enum softnpuTraceTask {
  SOFTNPU_TRACE_WORK = 0,
  SOFTNPU_TRACE_EVENT_RECORD = 1,
  SOFTNPU_TRACE_EVENT_WAIT = 2,
  SOFTNPU_TRACE_STEPS = 3,  // parks its stream in between, such as a collective; its run includes the waits
  SOFTNPU_TRACE_NODE = 4,   // of a replayed graph; other: the replay
} softnpuTraceTask;

typedef struct softnpuTraceRecord {
  uint8_t kind;    // a softnpuTraceKind
  uint8_t task;    // a softnpuTraceTask, of a launch
  uint8_t failed;  // 1: of a run that failed
  uint8_t reserved;
  uint32_t position;
  int32_t device;
  uint32_t stream;
  uint32_t thread;  // that launched, ran or called
  uint32_t unused;
  uint64_t id;  // of the task, unique in the process; from 1
  uint64_t other;
  int64_t begin;  // ns of CLOCK_MONOTONIC_RAW
  int64_t end;
  uint64_t bytes;      // of a launch: what the task writes
  const char* name;    // lives as long as the process; or null
  const char* detail;  // the same
} softnpuTraceRecord;

typedef struct softnpuTrace softnpuTrace;

// Begins a recording of what `wanted` names, on all threads. There may be several at a time.
ACL_FUNC_VISIBILITY aclError softnpuTraceStart(uint32_t wanted, softnpuTrace** trace);
// Ends it after the tasks that it saw launched, or after `timeoutMs`, and calls `visit` with each record, those of one
// thread in their order. `missing`, which may be null, is how many tasks had not run by then.
ACL_FUNC_VISIBILITY aclError softnpuTraceStop(softnpuTrace* trace, uint32_t timeoutMs,
                                              void (*visit)(void* context, const softnpuTraceRecord* record),
                                              void* context, uint64_t* missing);

// Where what all recordings want is stored: a relaxed load of it is all that an event costs while nothing records.
ACL_FUNC_VISIBILITY const uint32_t* softnpuTraceWanted(void);
ACL_FUNC_VISIBILITY int64_t softnpuTraceNow(void);
// The task that this thread launched last while a recording wanted tasks; 0 if none.
ACL_FUNC_VISIBILITY uint64_t softnpuTraceRecentTask(void);
// The task that this thread runs, if it is recorded; else 0.
ACL_FUNC_VISIBILITY uint64_t softnpuTraceRunningTask(void);
// Describes task `id`: shapes, data types and formats of inputs, then of outputs, each with ';' between tensors, and
// the cores that it may use: seven texts with '|' between them. Or a collective: "hccl", communicator, rank, size, data
// type, count, bytes, number, other rank or -1, and when all ranks had called it, or 0. Copied.
ACL_FUNC_VISIBILITY void softnpuTraceDetail(uint64_t id, const char* detail);
// A call of the host's function `name`, a literal, that began at `begin` and ends now.
ACL_FUNC_VISIBILITY void softnpuTraceCall(const char* name, int64_t begin);
// An operator that the host ran in place of the device, as if in `stream`. `name` is copied.
ACL_FUNC_VISIBILITY void softnpuTraceHostKernel(const char* name, aclrtStream stream, int64_t begin);
// A range of the program, which ends now; a mark if `begin` is 0. With a stream it also marks the stream.
ACL_FUNC_VISIBILITY void softnpuTraceMark(const char* domain, const char* message, aclrtStream stream, int64_t begin);

#ifdef __cplusplus
}
#endif
