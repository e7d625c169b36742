#include "acl/rt/memory.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "ascendcl/api.h"
#include "base/text.h"
#include "runtime/memory/address_lock.h"
#include "runtime/memory/memory_blocks.h"
#include "runtime/stream/trace.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::Context;
using softnpu::Device;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::text;

namespace {

Status allocate(void** out, size_t size) {
  SOFTNPU_RETURN_IF_ERROR(require(out, "devPtr"));
  *out = nullptr;
  if (size == 0) return {ACL_ERROR_INVALID_PARAM, "an allocation of 0 bytes"};
  SOFTNPU_RETURN_IF_ERROR(softnpu::check_capture_allows("an allocation of device memory"));
  Context* context = nullptr;
  SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
  const softnpu::trace::Call call("aclrtMalloc");
  Status status =
      Process::get().allocate_on(*context->device, [&] { return context->device->heap().allocate(size, out); });
  softnpu::trace::report_heap(*context->device);
  return status;
}

Status release(void* devPtr) {
  const softnpu::trace::Call call("aclrtFree");
  Process& process = Process::get();
  if (process.forked()) return Status::ok();  // the memory belongs to the parent
  Device* device = process.device_of(devPtr);
  if (device == nullptr) return {ACL_ERROR_RT_PARAM_INVALID, text("free: ", devPtr, " is not a device address")};
  softnpu::Allocation freed;
  const bool is_live = device->heap().find(devPtr, &freed);
  {
    const softnpu::AddressChange change;
    // Before: another thread may be given the memory at once.
    if (is_live && freed.base == devPtr) softnpu::MemoryBlocks::get().forget(freed.base, freed.size);
    SOFTNPU_RETURN_IF_ERROR(device->heap().release(devPtr));
  }
  if (is_live) {
    device->write_epochs().unshare(freed.base, freed.size);
    process.release_memory(*device, freed.base, freed.size);
  }
  softnpu::trace::report_heap(*device);
  return Status::ok();
}

// Registered memory is pinned in any case; devices read it at its host address.
Status register_host(void* address, size_t size) {
  SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
  if (Process::get().device_of(address) != nullptr) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("register: ", address, " is a device address")};
  }
  return Process::get().host_memory().add(address, size);
}

Status check(const aclrtMallocConfig& config) {
  if (config.numAttrs > 0) SOFTNPU_RETURN_IF_ERROR(require(config.attrs, "cfg->attrs"));
  for (size_t i = 0; i < config.numAttrs; ++i) {
    const auto attr = config.attrs[i].attr;
    if (attr < ACL_RT_MEM_ATTR_RSV || attr > ACL_RT_MEM_ATTR_VA_FLAG) {
      return {ACL_ERROR_INVALID_PARAM, text("the allocation attribute ", static_cast<int>(attr), " does not exist")};
    }
  }
  return Status::ok();
}

Status allocate_host(void** out, size_t size) {
  SOFTNPU_RETURN_IF_ERROR(require(out, "hostPtr"));
  *out = nullptr;
  if (size == 0) return {ACL_ERROR_INVALID_PARAM, "an allocation of 0 bytes"};
  return Process::get().host_memory().allocate(size, out);
}

}  // namespace

// All policies have the same effect: the heap uses huge pages for every block that is large enough.
aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return api("aclrtMalloc", [&] { return allocate(devPtr, size); });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return api("aclrtMallocAlign32", [&] { return allocate(devPtr, size); });
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return api("aclrtMallocCached", [&] { return allocate(devPtr, size); });
}

aclError aclrtFree(void* devPtr) {
  return api("aclrtFree", [&] { return release(devPtr); });
}

aclError softnpuFree(void* address) {
  return api("softnpuFree", [&] { return release(address); });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return api("aclrtMallocHost", [&] { return allocate_host(hostPtr, size); });
}

// The requesting module and its device make no difference for host memory.
aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  return api("aclrtMallocHostWithCfg", [&] {
    if (cfg != nullptr) SOFTNPU_RETURN_IF_ERROR(check(*cfg));
    return allocate_host(ptr, size);
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return api("aclrtFreeHost", [&] {
    const softnpu::AddressChange change;
    return Process::get().host_memory().release(hostPtr);
  });
}

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return api("aclrtHostRegister", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(devPtr, "devPtr"));
    *devPtr = nullptr;
    if (type != ACL_HOST_REGISTER_MAPPED) {
      return {ACL_ERROR_INVALID_PARAM, text("aclrtHostRegisterType ", static_cast<int>(type), " does not exist")};
    }
    SOFTNPU_RETURN_IF_ERROR(register_host(ptr, size));
    *devPtr = ptr;
    return Status::ok();
  });
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  return api("aclrtHostRegisterV2", [&]() -> Status {
    if (flag == 0 || (flag & ~(ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED)) != 0) {
      return {ACL_ERROR_INVALID_PARAM, text("the registration flags ", flag, ": ACL_HOST_REG_MAPPED or _PINNED")};
    }
    return register_host(ptr, size);
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return api("aclrtHostUnregister", [&] {
    const softnpu::AddressChange change;
    return Process::get().host_memory().remove(ptr);
  });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return api("aclrtPointerGetAttributes", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(ptr, "ptr"));
    SOFTNPU_RETURN_IF_ERROR(require(attributes, "attributes"));
    *attributes = {};
    attributes->pageSize = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
    if (Device* device = Process::get().device_of(ptr)) {
      attributes->location = {static_cast<uint32_t>(device->id()), ACL_MEM_LOCATION_TYPE_DEVICE};
      attributes->pageSize = softnpu::Region::kHugePage;
    } else if (Process::get().host_memory().contains(ptr, 1)) {
      attributes->location.type = ACL_MEM_LOCATION_TYPE_HOST;
    } else {
      attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    }
    return Status::ok();
  });
}

// One entry: the device memory of this process, now and its maximum.
aclError aclrtGetMemUsageInfo(uint32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum, size_t* outputNum) {
  return api("aclrtGetMemUsageInfo", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(memUsageInfo, "memUsageInfo"));
    SOFTNPU_RETURN_IF_ERROR(require(outputNum, "outputNum"));
    *outputNum = 0;
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(softnpu::require_set_up(static_cast<int32_t>(deviceId), &device));
    if (inputNum == 0) return {ACL_ERROR_INVALID_PARAM, "room for 0 entries"};
    *memUsageInfo = {};
    std::string_view("softnpu").copy(memUsageInfo->name, sizeof memUsageInfo->name - 1);
    memUsageInfo->curMemSize = device->heap().used();
    memUsageInfo->memPeakSize = device->heap().peak();
    *outputNum = 1;
    return Status::ok();
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free, size_t* total) {
  return api("aclrtGetMemInfo", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(free, "free"));
    SOFTNPU_RETURN_IF_ERROR(require(total, "total"));
    Context* context = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
    (void)Process::get().exports().end_leases();
    const auto& heap = context->device->heap();
    *total = heap.capacity();
    *free = heap.capacity() - heap.used();
    return Status::ok();
  });
}
