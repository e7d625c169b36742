#pragma once
// Common helpers of libascendcl's C functions: the border, the process, and its devices by id.

#include "base/border.h"
#include "base/text.h"
#include "runtime/config.h"
#include "runtime/process.h"

namespace softnpu {

// The device of the calling thread's context.
inline Status current_device(Device** out) {
  Context* context = nullptr;
  SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
  *out = context->device;
  return Status::ok();
}

// Checks that the id is one of a device.
inline Status check_device(int64_t id) {
  SOFTNPU_RETURN_IF_ERROR(config_status());
  const int count = config().device_count();
  if (id >= 0 && id < count) return Status::ok();
  return {ACL_ERROR_RT_INVALID_DEVICEID,
          text("device ", id, " does not exist: there ", count == 1 ? "is 1" : text("are ", count))};
}

// The device, if a context or an allocation has set it up already.
inline Status require_set_up(int32_t id, Device** out) {
  SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
  SOFTNPU_RETURN_IF_ERROR(check_device(id));
  *out = Process::get().live_device(id);
  if (*out != nullptr) return Status::ok();
  return {ACL_ERROR_RT_INVALID_DEVICEID, text("device ", id, " is not set up: call aclrtSetDevice first")};
}

}  // namespace softnpu
