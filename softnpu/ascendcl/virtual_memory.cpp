#include "acl/acl_rt.h"
#include "ascendcl/api.h"
#include "base/text.h"
#include "runtime/ipc/shareable.h"
#include "runtime/memory/address_lock.h"
#include "runtime/memory/memory_blocks.h"

using softnpu::api;
using softnpu::check_device;
using softnpu::Context;
using softnpu::Device;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::VirtualMemory;

namespace {

// The device whose addresses hold `address`.
Status owner(const void* address, Device** out) {
  SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
  *out = Process::get().device_of(address);
  if (*out != nullptr) return Status::ok();
  return {ACL_ERROR_RT_PARAM_INVALID, softnpu::text(address, " is not a device address")};
}

}  // namespace

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr, uint64_t flags) {
  return api("aclrtReserveMemAddress", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(virPtr, "virPtr"));
    *virPtr = nullptr;
    if (alignment > VirtualMemory::kGranularity || expectPtr != nullptr || flags > 1) {
      return {ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              softnpu::text("a reservation at a given address, aligned to more than ", VirtualMemory::kGranularity,
                            " bytes, or with flags other than 0 and 1")};
    }
    Context* context = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
    return context->device->virtual_memory().reserve(size, virPtr);
  });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  return api("aclrtReleaseMemAddress", [&] {
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(owner(virPtr, &device));
    return device->virtual_memory().release(virPtr);
  });
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option,
                                          size_t* granularity) {
  return api("aclrtMemGetAllocationGranularity", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(prop, "prop"));
    SOFTNPU_RETURN_IF_ERROR(require(granularity, "granularity"));
    if (prop->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
      return {ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "physical memory elsewhere than on a device"};
    }
    SOFTNPU_RETURN_IF_ERROR(check_device(prop->location.id));
    if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM && option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
      return {ACL_ERROR_INVALID_PARAM,
              softnpu::text("option ", static_cast<int>(option), " is neither 0 (minimum) nor ", "1 (recommended)")};
    }
    *granularity = VirtualMemory::kGranularity;
    return Status::ok();
  });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop, uint64_t flags) {
  return api("aclrtMallocPhysical", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(handle, "handle"));
    SOFTNPU_RETURN_IF_ERROR(require(prop, "prop"));
    *handle = nullptr;
    if (prop->location.type != ACL_MEM_LOCATION_TYPE_DEVICE || flags != 0) {
      return {ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "physical memory elsewhere than on a device, or with flags"};
    }
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().device(static_cast<int32_t>(prop->location.id), &device));
    return Process::get().allocate_on(*device,
                                      [&] { return device->virtual_memory().allocate_physical(size, handle); });
  });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return api("aclrtFreePhysical", [&] {
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().device_of_physical(handle, &device));
    const softnpu::AddressChange change;
    return device->virtual_memory().free_physical(handle);
  });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
  return api("aclrtMapMem", [&]() -> Status {
    if (flags != 0) return {ACL_ERROR_RT_FEATURE_NOT_SUPPORT, softnpu::text("aclrtMapMem with flags ", flags)};
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(owner(virPtr, &device));
    return device->virtual_memory().map(virPtr, size, offset, handle);
  });
}

aclError aclrtUnmapMem(void* virPtr) {
  return api("aclrtUnmapMem", [&] {
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(owner(virPtr, &device));
    size_t size = 0;
    {
      const softnpu::AddressChange change;
      SOFTNPU_RETURN_IF_ERROR(device->virtual_memory().unmap(virPtr, &size));
    }
    softnpu::MemoryBlocks::get().forget(virPtr, size);
    Process::get().release_memory(*device, virPtr, size);
    return Status::ok();
  });
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags,
                                         uint64_t* shareableHandle) {
  return api("aclrtMemExportToShareableHandle", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(shareableHandle, "shareableHandle"));
    if (handleType != ACL_MEM_HANDLE_TYPE_NONE || flags > ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
      return {ACL_ERROR_INVALID_PARAM,
              softnpu::text("exporting with handle type ", static_cast<int>(handleType), " and the flags ", flags)};
    }
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().device_of_physical(handle, &device));
    const bool anybody = flags == ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION;
    return softnpu::shareable::export_physical(Process::get(), *device, handle, anybody, shareableHandle);
  });
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum) {
  return api("aclrtMemSetPidToShareableHandle", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(pid, "pid"));
    if (pidNum == 0) return {ACL_ERROR_INVALID_PARAM, "no process is named"};
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    return softnpu::shareable::allow(Process::get(), shareableHandle, pid, pidNum);
  });
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle* handle) {
  return api("aclrtMemImportFromShareableHandle", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(handle, "handle"));
    *handle = nullptr;
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().device(deviceId, &device));
    return softnpu::shareable::import(shareableHandle, *device, handle);
  });
}
