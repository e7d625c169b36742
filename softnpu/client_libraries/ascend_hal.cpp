// libascend_hal.so: what programs ask the driver.

#include "driver/ascend_hal.h"

#include "acl/acl_rt.h"

#include "base/border.h"
#include "base/unsupported.h"

using softnpu::api;
using softnpu::require;
using softnpu::Status;

namespace {

constexpr int32_t kVersion = 0x071905;  // the first that has a counter of its own
constexpr int32_t kSystem = 0;
constexpr int32_t kCounterFrequency = 24;

Status count_devices(int32_t* count) {
  SOFTNPU_RETURN_IF_ERROR(require(count, "count"));
  uint32_t devices = 0;
  if (const aclError code = aclrtGetDeviceCount(&devices); code != ACL_SUCCESS) {
    return {code, "the devices cannot be counted"};
  }
  *count = static_cast<int32_t>(devices);
  return Status::ok();
}

}  // namespace

int32_t drvGetDevNum(int32_t* count) {
  return api("drvGetDevNum", [&] { return count_devices(count); });
}

int32_t halGetAPIVersion(int32_t* version) {
  return api("halGetAPIVersion", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(version, "version"));
    *version = kVersion;
    return Status::ok();
  });
}

// The counter's frequency is 0: a software NPU has no counter, its clock is the host's CLOCK_MONOTONIC_RAW.
int32_t halGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t* value) {
  return api("halGetDeviceInfo", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    int32_t count = 0;
    SOFTNPU_RETURN_IF_ERROR(count_devices(&count));
    if (device >= static_cast<uint32_t>(count)) return {ACL_ERROR_INVALID_DEVICE, "the device does not exist"};
    if (module != kSystem || info != kCounterFrequency) {
      return {ACL_ERROR_FEATURE_UNSUPPORTED, "only information 24 of module 0 is known: the counter's frequency"};
    }
    *value = 0;
    return Status::ok();
  });
}

// No source states the arguments of these two, so no header declares them.
extern "C" {
ACL_FUNC_VISIBILITY int32_t halHostRegister() {
  return softnpu::unsupported(__func__, "the driver shares no host memory with devices: call aclrtHostRegister");
}
ACL_FUNC_VISIBILITY int32_t halHostUnregister() {
  return softnpu::unsupported(__func__, "the driver shares no host memory with devices: call aclrtHostUnregister");
}
}
