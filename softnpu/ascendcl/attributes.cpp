// Capabilities of this CANN and of its devices.

#include <array>

#include "acl/acl_base.h"
#include "ascendcl/api.h"
#include "base/cache_size.h"
#include "base/text.h"
#include "runtime/config.h"

using softnpu::api;
using softnpu::require;
using softnpu::Status;

namespace {

constexpr std::array kAttributes = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16, ACL_CANN_ATTR_JIT_COMPILE};

}  // namespace

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  return api("aclGetCannAttributeList", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(cannAttrList, "cannAttrList"));
    SOFTNPU_RETURN_IF_ERROR(require(num, "num"));
    *cannAttrList = kAttributes.data();
    *num = kAttributes.size();
    return Status::ok();
  });
}

// Kernels follow IEEE 754 and are compiled ahead of time.
aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  return api("aclGetCannAttribute", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    switch (cannAttr) {
      case ACL_CANN_ATTR_INF_NAN:
      case ACL_CANN_ATTR_BF16: *value = 1; return Status::ok();
      case ACL_CANN_ATTR_JIT_COMPILE: *value = 0; return Status::ok();
      default: return {ACL_ERROR_INVALID_PARAM, softnpu::text("there is no attribute ", static_cast<int>(cannAttr))};
    }
  });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return api("aclGetDeviceCapability", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    const auto& config = softnpu::config();
    if (deviceId >= static_cast<uint32_t>(config.device_count())) {
      return {ACL_ERROR_RT_INVALID_DEVICEID, softnpu::text("device ", deviceId, " does not exist")};
    }
    switch (deviceInfo) {
      case ACL_DEVICE_INFO_AI_CORE_NUM:
      case ACL_DEVICE_INFO_VECTOR_CORE_NUM: *value = config.cores; return Status::ok();
      case ACL_DEVICE_INFO_L2_SIZE: {
        int64_t bytes = softnpu::last_level_cache_bytes();
        if (bytes == 0) return {ACL_ERROR_FEATURE_UNSUPPORTED, "the system does not tell the size of its caches"};
        *value = bytes;
        return Status::ok();
      }
      default:
        return {ACL_ERROR_INVALID_PARAM, softnpu::text("there is no device capability ", static_cast<int>(deviceInfo))};
    }
  });
}
