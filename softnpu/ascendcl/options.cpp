// Settings of arithmetic, of contexts and of time limits.

#include <algorithm>
#include <chrono>
#include <limits>

#include "acl/rt/device.h"
#include "ascendcl/api.h"
#include "runtime/memory/copy.h"
#include "runtime/stream/time_limits.h"

using softnpu::api;
using softnpu::Context;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;
using softnpu::text;

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  return api("aclrtSetDeviceSatMode", [&]() -> Status {
    softnpu::Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(softnpu::current_device(&device));
    switch (mode) {
      case ACL_RT_OVERFLOW_MODE_INFNAN: return Status::ok();
      case ACL_RT_OVERFLOW_MODE_SATURATION:
        return {ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "arithmetic that saturates: kernels here give infinities (ACL_RT_OVERFLOW_MODE_INFNAN)"};
      default: return {ACL_ERROR_INVALID_PARAM, text("overflow mode ", static_cast<int>(mode), " does not exist")};
    }
  });
}

// Kernels do not saturate, so that there is never an overflow to report: the status is 0.
aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream) {
  return api("aclrtGetOverflowStatus", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(outputAddr, "outputAddr"));
    if (Process::get().device_of(outputAddr) == nullptr) {
      return {ACL_ERROR_RT_PARAM_INVALID, text(outputAddr, " is not a device address")};
    }
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    return softnpu::fill_async(Process::get(), outputAddr, outputSize, 0, outputSize, *target);
  });
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
  return api("aclrtResetOverflowStatus", [&] {
    std::shared_ptr<Stream> target;
    return Process::get().stream(stream, &target);
  });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return api("aclrtSetStreamOverflowSwitch", [&]() -> Status {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    if (flag > 1) return {ACL_ERROR_INVALID_PARAM, text("the overflow switch ", flag, ": it is 0 or 1")};
    target->overflow_switch() = flag;
    return Status::ok();
  });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  return api("aclrtGetStreamOverflowSwitch", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(flag, "flag"));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    *flag = target->overflow_switch();
    return Status::ok();
  });
}

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
