// libascend_hal.so: what programs ask the driver.

#include "driver/ascend_hal.h"

#include "acl/acl_rt.h"

namespace {

constexpr int32_t kOk = 0;
constexpr int32_t kInvalid = 3;       // not 0: all that callers compare with
constexpr int32_t kVersion = 0x071905;  // the first that has a counter of its own
constexpr int32_t kSystem = 0;
constexpr int32_t kCounterFrequency = 24;

}  // namespace

int32_t drvGetDevNum(int32_t* count) {
  uint32_t devices = 0;
  if (count == nullptr || aclrtGetDeviceCount(&devices) != ACL_SUCCESS) return kInvalid;
  *count = static_cast<int32_t>(devices);
  return kOk;
}

int32_t halGetAPIVersion(int32_t* version) {
  if (version == nullptr) return kInvalid;
  *version = kVersion;
  return kOk;
}

// The counter's frequency is 0: a software NPU has no counter, its clock is the host's CLOCK_MONOTONIC_RAW.
int32_t halGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t* value) {
  int32_t count = 0;
  if (value == nullptr || drvGetDevNum(&count) != kOk || device >= static_cast<uint32_t>(count)) return kInvalid;
  if (module != kSystem || info != kCounterFrequency) return kInvalid;
  *value = 0;
  return kOk;
}
