#include "acl/acl_rt.h"
#include "api.h"
#include "base/text.h"
#include "runtime/config.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::Context;
using softnpu::Device;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;

namespace {

// The device of the calling thread's context.
Status current_device(Device** out) {
  Context* context = nullptr;
  SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
  *out = context->device;
  return Status::ok();
}

Status require_set_up(int32_t id, Device** out) {
  *out = Process::get().live_device(id);
  if (*out != nullptr) return Status::ok();
  return {ACL_ERROR_RT_INVALID_DEVICEID, softnpu::text("device ", id, " is not set up: call aclrtSetDevice first")};
}

}  // namespace

aclError aclrtGetDeviceCount(uint32_t* count) {
  return api("aclrtGetDeviceCount", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(count, "count"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::config_status());
    *count = static_cast<uint32_t>(softnpu::config().device_count);
    return Status::ok();
  });
}

aclError aclrtSetDevice(int32_t deviceId) {
  return api("aclrtSetDevice", [&] { return Process::get().set_device(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return api("aclrtResetDevice", [&] { return Process::get().reset_device(deviceId); });
}

aclError softnpuOnDeviceReset(void (*function)(int32_t)) {
  return api("softnpuOnDeviceReset", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(reinterpret_cast<const void*>(function), "function"));
    Process::get().on_reset(function);
    return Status::ok();
  });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return api("aclrtGetDevice", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(deviceId, "deviceId"));
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(current_device(&device));
    *deviceId = device->id();
    return Status::ok();
  });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return api("aclrtSynchronizeDevice", [&] {
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(current_device(&device));
    return device->synchronize(std::chrono::milliseconds(timeout));
  });
}

aclError aclrtSynchronizeDevice(void) { return aclrtSynchronizeDeviceWithTimeout(-1); }

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return api("aclrtGetRunMode", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(runMode, "runMode"));
    *runMode = ACL_HOST;
    return Status::ok();
  });
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return api("aclrtGetDeviceInfo", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    const auto& config = softnpu::config();
    if (deviceId >= static_cast<uint32_t>(config.device_count)) {
      return {ACL_ERROR_RT_INVALID_DEVICEID, softnpu::text("device ", deviceId, " does not exist")};
    }
    switch (attr) {
      case ACL_DEV_ATTR_AICPU_CORE_NUM:
      case ACL_DEV_ATTR_AICORE_CORE_NUM:
      case ACL_DEV_ATTR_CUBE_CORE_NUM:
      case ACL_DEV_ATTR_VECTOR_CORE_NUM: *value = config.cores; return Status::ok();
      case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE: *value = static_cast<int64_t>(config.hbm_bytes); return Status::ok();
      case ACL_DEV_ATTR_PHY_CHIP_ID: *value = deviceId; return Status::ok();
      case ACL_DEV_ATTR_IS_VIRTUAL: *value = 1; return Status::ok();
      default:
        return {ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                softnpu::text("device attribute ", static_cast<int>(attr), " has no meaning on a software NPU")};
    }
  });
}

// Every device's memory is host memory, so each can reach the others.
aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return api("aclrtDeviceCanAccessPeer", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(canAccessPeer, "canAccessPeer"));
    int count = softnpu::config().device_count;
    for (int32_t id : {deviceId, peerDeviceId}) {
      if (id < 0 || id >= count) {
        return {ACL_ERROR_RT_INVALID_DEVICEID, softnpu::text("device ", id, " does not exist")};
      }
    }
    *canAccessPeer = deviceId != peerDeviceId ? 1 : 0;
    return Status::ok();
  });
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return api("aclrtCreateContext", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(context, "context"));
    Context* made = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().create_context(deviceId, &made));
    *context = made;
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

aclError softnpuKernelOffset(int32_t deviceId, ptrdiff_t* offset) {
  return api("softnpuKernelOffset", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(offset, "offset"));
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(require_set_up(deviceId, &device));
    *offset = device->region().kernel_offset();
    return Status::ok();
  });
}

aclError softnpuDeviceRange(int32_t deviceId, void** base, size_t* size) {
  return api("softnpuDeviceRange", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(base, "base"));
    SOFTNPU_RETURN_IF_ERROR(require(size, "size"));
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(require_set_up(deviceId, &device));
    *base = device->region().base();
    *size = device->region().range();
    return Status::ok();
  });
}
