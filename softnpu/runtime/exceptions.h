#pragma once
// The program's callback for failed tasks (aclrtSetExceptionInfoCallback).

#include <cstdint>

#include "acl/acl_rt.h"

// The callback's argument; programs read it through aclrtGet...FromExceptionInfo.
struct rtExceptionInfo {
  uint32_t task_id = 0;
  uint32_t stream_id = 0;
  uint32_t thread_id = 0;  // the thread that launched the task
  uint32_t device_id = 0;
  uint32_t error_code = 0;
};

namespace softnpu {

// Null removes the callback.
void set_exception_callback(aclrtExceptionInfoCallback callback) noexcept;

// Calls the callback, if set, on this thread. Drops its exceptions.
void report_exception(aclrtExceptionInfo info) noexcept;

}  // namespace softnpu
