#pragma once
// Automatic tuning: several implementations of one operator's shape are timed, and the fastest serves. Included by
// softnpu.h.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Whether an operator that the calling thread plans may be timed: 0 where SOFTNPU_TUNE=0, and while the thread's
// context, or the process if it has none, asks for deterministic operators (ACL_OPT_DETERMINISTIC).
ACL_FUNC_VISIBILITY int32_t softnpuTunes(void);

typedef struct softnpuTunedCandidate {
  const char* name;
  double microseconds;  // the fastest run; 0: it was not timed
} softnpuTunedCandidate;

// An operator and a shape of which several implementations may serve.
typedef struct softnpuTunedWork {
  const char* work;
  uint64_t uses;   // calls that were planned
  int32_t chosen;  // the index of the candidate that serves; -1 before the first run
  size_t count;
  const softnpuTunedCandidate* candidates;
} softnpuTunedWork;

// Calls `visit` for each of them, in the order of their first calls. In libopapi.
ACL_FUNC_VISIBILITY void softnpuVisitTuned(void (*visit)(const softnpuTunedWork* work, void* argument), void* argument);

// For tests: from now on each timed run of a candidate of that name begins with a sleep; 0 ends that. In libopapi.
ACL_FUNC_VISIBILITY void softnpuDelayCandidate(const char* name, uint64_t microseconds);

#ifdef __cplusplus
}
#endif
