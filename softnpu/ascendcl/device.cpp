#include "acl/rt/device.h"

#include <fstream>
#include <string>
#include <string_view>

#include "ascendcl/api.h"
#include "runtime/stream/trace.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::check_device;
using softnpu::current_device;
using softnpu::Device;
using softnpu::Process;
using softnpu::require;
using softnpu::require_set_up;
using softnpu::Status;
using softnpu::text;

namespace {

constexpr uint64_t kFnvBasis = 0xcbf29ce484222325;

uint64_t fnv1a(std::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Identical for all processes on this machine, different on other machines.
std::string machine_id() {
  std::string id;
  std::ifstream("/etc/machine-id") >> id;
  if (id.empty()) std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

// Waits for the current device; `timeout` in milliseconds; negative: none.
Status synchronize(int32_t timeout) {
  Device* device = nullptr;
  SOFTNPU_RETURN_IF_ERROR(current_device(&device));
  return device->synchronize(std::chrono::milliseconds(timeout));
}

}  // namespace

aclError aclrtGetDeviceCount(uint32_t* count) {
  return api("aclrtGetDeviceCount", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(count, "count"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::config_status());
    *count = static_cast<uint32_t>(softnpu::config().device_count());
    return Status::ok();
  });
}

aclError aclrtSetDevice(int32_t deviceId) {
  return api("aclrtSetDevice", [&] { return Process::get().set_device(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return api("aclrtResetDevice", [&] { return Process::get().reset_device(deviceId, false); });
}

aclError softnpuReleaseDevice(int32_t deviceId) {
  return api("softnpuReleaseDevice", [&] { return Process::get().reset_device(deviceId, true); });
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
  return api("aclrtSynchronizeDeviceWithTimeout", [&] { return synchronize(timeout); });
}

aclError aclrtSynchronizeDevice(void) {
  return api("aclrtSynchronizeDevice", [] {
    const softnpu::trace::Call call("aclrtSynchronizeDevice");
    return synchronize(-1);
  });
}

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
    SOFTNPU_RETURN_IF_ERROR(check_device(deviceId));
    const auto& config = softnpu::config();
    switch (attr) {
      case ACL_DEV_ATTR_AICPU_CORE_NUM:
      case ACL_DEV_ATTR_AICORE_CORE_NUM:
      case ACL_DEV_ATTR_CUBE_CORE_NUM:
      case ACL_DEV_ATTR_VECTOR_CORE_NUM: *value = config.cores; return Status::ok();
      case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE: *value = static_cast<int64_t>(config.hbm_bytes); return Status::ok();
      case ACL_DEV_ATTR_PHY_CHIP_ID: *value = config.devices[deviceId]; return Status::ok();
      case ACL_DEV_ATTR_IS_VIRTUAL: *value = 1; return Status::ok();
      default:
        return {ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                text("device attribute ", static_cast<int>(attr), " has no meaning on a software NPU")};
    }
  });
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId) {
  return api("aclrtGetLogicDevIdByUserDevId", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(logicDevId, "logicDevId"));
    SOFTNPU_RETURN_IF_ERROR(check_device(userDevid));
    *logicDevId = softnpu::config().devices[static_cast<size_t>(userDevid)];
    return Status::ok();
  });
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
  return api("aclrtDeviceGetUuid", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(uuid, "uuid"));
    SOFTNPU_RETURN_IF_ERROR(check_device(deviceId));
    *uuid = {};
    uint64_t hash = fnv1a(machine_id(), kFnvBasis);
    for (size_t i = 0; i < sizeof uuid->bytes; ++i) {
      if (i % sizeof hash == 0)
        hash = fnv1a(text(softnpu::config().devices[static_cast<size_t>(deviceId)], "/", i), hash);
      uuid->bytes[i] = static_cast<char>(hash >> (i % sizeof hash * 8));
    }
    return Status::ok();
  });
}

// Since the last call. Vector cores and cube cores are the same threads.
aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
  return api("aclrtGetDeviceUtilizationRate", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(utilizationInfo, "utilizationInfo"));
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(require_set_up(deviceId, &device));
    const int32_t busy = device->utilization();
    const auto& heap = device->heap();
    utilizationInfo->cubeUtilization = busy;
    utilizationInfo->vectorUtilization = busy;
    utilizationInfo->aicpuUtilization = DEVICE_UTILIZATION_NOT_SUPPORT;
    utilizationInfo->memoryUtilization = static_cast<int32_t>(100 * heap.used() / heap.capacity());
    return Status::ok();
  });
}

aclError aclrtSetTsDevice(aclrtTsId tsId) {
  return api("aclrtSetTsDevice", [&]() -> Status {
    if (tsId == ACL_TS_ID_AICORE) return Status::ok();
    return {ACL_ERROR_INVALID_PARAM, text("task scheduler ", static_cast<int>(tsId), " does not exist: there is 0")};
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

aclError softnpuGetFusedTasks(int32_t deviceId, uint64_t* count) {
  return api("softnpuGetFusedTasks", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(count, "count"));
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(require_set_up(deviceId, &device));
    *count = device->executor().fused_tasks();
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
