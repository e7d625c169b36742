// Core limits and core groups. A thread's limit is that of the stream it uses, else that of its device.

#include <cstring>
#include <memory>

#include "acl/rt/device.h"
#include "ascendcl/api.h"

using softnpu::api;
using softnpu::CoreLimits;
using softnpu::Device;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;
using softnpu::text;

// The properties of the only group.
struct tagRtGroupInfo {
  int32_t cores = 0;
};

namespace {

thread_local std::weak_ptr<Stream> stream_in_use;

uint32_t all_cores() { return static_cast<uint32_t>(softnpu::config().cores); }

Status of_stream(aclrtStream handle, aclrtDevResLimitType type, uint32_t* value) {
  std::shared_ptr<Stream> stream;
  SOFTNPU_RETURN_IF_ERROR(Process::get().stream(handle, &stream));
  SOFTNPU_RETURN_IF_ERROR(CoreLimits::check(type));
  const uint32_t of_device = Process::get().live_device(stream->device())->core_limits().get(type, all_cores());
  *value = stream->core_limits().get(type, of_device);
  return Status::ok();
}

}  // namespace

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return api("aclrtGetDeviceResLimit", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::check_device(deviceId));
    SOFTNPU_RETURN_IF_ERROR(CoreLimits::check(type));
    Device* device = Process::get().live_device(deviceId);
    *value = device == nullptr ? all_cores() : device->core_limits().get(type, all_cores());
    return Status::ok();
  });
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return api("aclrtSetDeviceResLimit", [&] {
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().device(deviceId, &device));
    return device->core_limits().set(type, value, all_cores());
  });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  return api("aclrtResetDeviceResLimit", [&] {
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().device(deviceId, &device));
    device->core_limits().reset();
    return Status::ok();
  });
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  return api("aclrtGetStreamResLimit", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    return of_stream(stream, type, value);
  });
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  return api("aclrtSetStreamResLimit", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    return target->core_limits().set(type, value, all_cores());
  });
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  return api("aclrtResetStreamResLimit", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    target->core_limits().reset();
    return Status::ok();
  });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  return api("aclrtUseStreamResInCurrentThread", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    stream_in_use = target;
    return Status::ok();
  });
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return api("aclrtUnuseStreamResInCurrentThread", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    if (stream_in_use.lock() == target) stream_in_use.reset();
    return Status::ok();
  });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return api("aclrtGetResInCurrentThread", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    SOFTNPU_RETURN_IF_ERROR(CoreLimits::check(type));
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(softnpu::current_device(&device));
    *value = device->core_limits().get(type, all_cores());
    if (auto used = stream_in_use.lock(); used && used->device() == device->id()) {
      *value = used->core_limits().get(type, *value);
    }
    return Status::ok();
  });
}

aclError aclrtSetGroup(int32_t groupId) {
  return api("aclrtSetGroup", [&]() -> Status {
    if (groupId == 0) return Status::ok();
    return {ACL_ERROR_RT_GROUP_NOT_CREATE, text("group ", groupId, " does not exist: there is 0, with all cores")};
  });
}

aclError aclrtGetGroupCount(uint32_t* count) {
  return api("aclrtGetGroupCount", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(count, "count"));
    *count = 1;
    return Status::ok();
  });
}

aclrtGroupInfo* aclrtCreateGroupInfo() {
  return softnpu::guarded(static_cast<aclrtGroupInfo*>(nullptr),
                          [] { return std::make_unique<aclrtGroupInfo>().release(); });
}

aclError aclrtDestroyGroupInfo(aclrtGroupInfo* groupInfo) {
  return api("aclrtDestroyGroupInfo", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(groupInfo, "groupInfo"));
    std::unique_ptr<aclrtGroupInfo>(groupInfo).reset();
    return Status::ok();
  });
}

aclError aclrtGetAllGroupInfo(aclrtGroupInfo* groupInfo) {
  return api("aclrtGetAllGroupInfo", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(groupInfo, "groupInfo"));
    groupInfo->cores = softnpu::config().cores;
    return Status::ok();
  });
}

aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo* groupInfo, int32_t groupIndex, aclrtGroupAttr attr,
                                 void* attrValue, size_t valueLen, size_t* paramRetSize) {
  return api("aclrtGetGroupInfoDetail", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(groupInfo, "groupInfo"));
    SOFTNPU_RETURN_IF_ERROR(require(attrValue, "attrValue"));
    SOFTNPU_RETURN_IF_ERROR(require(paramRetSize, "paramRetSize"));
    int32_t value = 0;
    *paramRetSize = sizeof value;
    if (groupIndex != 0) return {ACL_ERROR_INVALID_PARAM, text("group ", groupIndex, " does not exist: there is 0")};
    if (valueLen < sizeof value) return {ACL_ERROR_INVALID_PARAM, text("room for ", valueLen, " bytes of 4")};
    switch (attr) {
      case ACL_GROUP_AICORE_INT:
      case ACL_GROUP_AIV_INT:
      case ACL_GROUP_AIC_INT: value = groupInfo->cores; break;
      case ACL_GROUP_SDMANUM_INT:
      case ACL_GROUP_ASQNUM_INT:
      case ACL_GROUP_GROUPID_INT: break;
      default: return {ACL_ERROR_INVALID_PARAM, text("aclrtGroupAttr ", static_cast<int>(attr), " does not exist")};
    }
    std::memcpy(attrValue, &value, sizeof value);
    return Status::ok();
  });
}
