#pragma once
// Who hears of a task that failed (aclrtSetExceptionInfoCallback).

#include <cstdint>

#include "acl/acl_rt.h"

// What the callback is told; programs read it by aclrtGet...FromExceptionInfo.
struct rtExceptionInfo {
  uint32_t task_id = 0;
  uint32_t stream_id = 0;
  uint32_t thread_id = 0;  // the thread that launched the task
  uint32_t device_id = 0;
  uint32_t error_code = 0;
};

namespace softnpu {

// Null: nobody hears.
void set_exception_callback(aclrtExceptionInfoCallback callback) noexcept;

// Calls the callback, if any, on this thread. Its exceptions are dropped.
void report_exception(aclrtExceptionInfo info) noexcept;

}  // namespace softnpu
