#pragma once
// Which algorithm serves an operator: the first row of a table that can, or the fastest of those that were timed for
// the shape (automatic tuning). Included by softnpu.h.

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

typedef struct softnpuRefusedAlgorithm {
  const char* name;
  const char* why;
} softnpuRefusedAlgorithm;

// An operator and a shape, and the row of its table of algorithms that serves it.
typedef struct softnpuServedWork {
  const char* work;
  const char* algorithm;
  uint64_t uses;  // calls that were planned
  size_t count;
  const softnpuRefusedAlgorithm* refused;  // the rows above it, and why they do not serve it
} softnpuServedWork;

// From softnpuLogAlgorithms(1) to softnpuLogAlgorithms(0), which may be nested, operators write down the algorithms
// that serve them; the outermost one begins with an empty log. In libopapi.
ACL_FUNC_VISIBILITY void softnpuLogAlgorithms(int32_t on);
// Calls `visit` for what was written down, in the order of the first calls. In libopapi.
ACL_FUNC_VISIBILITY void softnpuVisitServed(void (*visit)(const softnpuServedWork* work, void* argument),
                                            void* argument);

// A row of a table of algorithms, which are sorted best first.
typedef struct softnpuAlgorithm {
  const char* table;  // "convolution"
  const char* name;
  int32_t isTimed;  // 1: it serves only where it was timed and is the fastest
} softnpuAlgorithm;

// Calls `visit` for each row of each table. In libopapi.
ACL_FUNC_VISIBILITY void softnpuVisitAlgorithms(void (*visit)(const softnpuAlgorithm* row, void* argument),
                                                void* argument);

// For tests: from now on each timed run of a candidate of that name begins with a sleep; 0 ends that. In libopapi.
ACL_FUNC_VISIBILITY void softnpuDelayCandidate(const char* name, uint64_t microseconds);

#ifdef __cplusplus
}
#endif
