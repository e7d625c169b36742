#include "acl/rt/context.h"

#include "ascendcl/api.h"

using softnpu::api;
using softnpu::Context;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return api("aclrtCreateContext", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(context, "context"));
    Context* result = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().create_context(deviceId, &result));
    *context = result;
    return Status::ok();
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return api("aclrtDestroyContext", [&] { return Process::get().destroy_context(static_cast<Context*>(context)); });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return api("aclrtSetCurrentContext", [&] { return Process::get().set_current(static_cast<Context*>(context)); });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return api("aclrtGetCurrentContext", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(context, "context"));
    Context* found = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().current(&found));
    *context = found;
    return Status::ok();
  });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  return api("aclrtGetPrimaryCtxState", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(active, "active"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::check_device(deviceId));
    if (flags != nullptr) *flags = 0;
    *active = Process::get().has_primary(deviceId) ? 1 : 0;
    return Status::ok();
  });
}
