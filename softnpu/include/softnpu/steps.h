#pragma once
// Work of a stream that waits for something outside of its device.

#include <stdint.h>

#include "acl/acl_base.h"
#include "softnpu/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct softnpuTurn softnpuTurn;

typedef struct softnpuSteps {
  const char* name;  // a literal
  // Does the next part of the work, on the device's thread. With *again = 1 the stream parks, and the device serves its
  // other streams, until softnpuResume(turn), which may come before this call returns; then it is called again. On
  // failure it returns an aclError and writes a sentence of at most `size` bytes.
  aclError (*step)(void* state, softnpuTurn* turn, int32_t* again, char* message, size_t size);
  void (*release)(
      void* state);  // called exactly once: after the last step, when the work is dropped, when launching fails
  void* state;
  // 1: while the stream is parked the work computes elsewhere: aclrtSetOpExecuteTimeOut's limit holds for it, and
  // aclrtSetOpWaitTimeout's does not.
  int32_t computes;
  const softnpuRange* written;  // as of softnpuTask
  size_t writtenCount;
} softnpuSteps;

// Enqueues `steps`. Its failure is returned by the stream's next synchronisation.
ACL_FUNC_VISIBILITY aclError softnpuLaunchSteps(aclrtStream stream, const softnpuSteps* steps);
// Steps in a captured graph: each replay makes its own.
typedef struct softnpuCapturedSteps {
  const char* name;  // a literal
  // Writes to `steps` what one replay runs, at its launch, on the launching thread. `name` and `written` in it do not
  // count. On failure nothing is released, and it returns an aclError and writes a sentence of at most `size` bytes.
  aclError (*make)(void* state, softnpuSteps* steps, char* message, size_t size);
  void (*release)(void* state);  // called exactly once, where the capture keeps them: with the graph
  void* state;
  const softnpuRange* written;  // as of softnpuTask
  size_t writtenCount;
} softnpuCapturedSteps;

// Appends `steps` to the capture of `stream`. If the stream is not captured, *isCaptured is 0, nothing happens, and the
// caller keeps the state; so it does on failure.
ACL_FUNC_VISIBILITY aclError softnpuCaptureSteps(aclrtStream stream, const softnpuCapturedSteps* steps,
                                                 int32_t* isCaptured);
// From any thread, between a step and `release`.
ACL_FUNC_VISIBILITY void softnpuResume(softnpuTurn* turn);

#ifdef __cplusplus
}
#endif
