// Settings of contexts and of time limits.

#include <algorithm>
#include <chrono>
#include <limits>

#include "acl/rt/device.h"
#include "ascendcl/api.h"
#include "runtime/stream/time_limits.h"

using softnpu::api;
using softnpu::Context;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return api("aclrtCtxGetSysParamOpt", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    Context* context = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
    return context->options.get(opt, value);
  });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return api("aclrtCtxSetSysParamOpt", [&] {
    Context* context = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
    return context->options.set(opt, value);
  });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return api("aclrtGetSysParamOpt", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    return Process::get().options().get(opt, value);
  });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return api("aclrtSetSysParamOpt", [&] { return Process::get().options().set(opt, value); });
}

// A kernel on the host cannot be stopped: the limits end the host's waits (runtime/stream/time_limits.h).
aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  return api("aclrtSetOpWaitTimeout", [&] {
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    softnpu::set_wait_limit(std::chrono::seconds(timeout));
    return Status::ok();
  });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  return api("aclrtSetOpExecuteTimeOut", [&] {
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    softnpu::set_execute_limit(std::chrono::seconds(timeout));
    return Status::ok();
  });
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  return api("aclrtSetOpExecuteTimeOutV2", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(actualTimeout, "actualTimeout"));
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    // Microseconds; a value out of range means no limit.
    const uint64_t bounded = std::min(timeout, static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
    softnpu::set_execute_limit(std::chrono::microseconds(static_cast<int64_t>(bounded)));
    *actualTimeout = timeout;
    return Status::ok();
  });
}
