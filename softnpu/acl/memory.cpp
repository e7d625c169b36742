#include <algorithm>

#include "acl/acl_rt.h"
#include "api.h"
#include "base/text.h"
#include "runtime/address_lock.h"
#include "runtime/copy.h"

using softnpu::api;
using softnpu::Context;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;

namespace {

Status allocate(void** out, size_t size) {
  SOFTNPU_RETURN_IF_ERROR(require(out, "devPtr"));
  *out = nullptr;
  if (size == 0) return {ACL_ERROR_INVALID_PARAM, "an allocation of 0 bytes"};
  Context* context = nullptr;
  SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
  return context->device->heap().allocate(size, out);
}

}  // namespace

// Every policy is served alike: the heap uses huge pages wherever a block is large enough for one.
aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return api("aclrtMalloc", [&] { return allocate(devPtr, size); });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return api("aclrtMallocAlign32", [&] { return allocate(devPtr, size); });
}

aclError aclrtFree(void* devPtr) {
  return api("aclrtFree", [&]() -> Status {
    Process& process = Process::get();
    if (process.forked()) return Status::ok();  // the memory is the parent's
    softnpu::Device* device = process.device_of(devPtr);
    if (device == nullptr) {
      return {ACL_ERROR_RT_PARAM_INVALID, softnpu::text("free: ", devPtr, " is not a device address")};
    }
    const softnpu::AddressChange change;
    return device->heap().release(devPtr);
  });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return api("aclrtMallocHost", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(hostPtr, "hostPtr"));
    *hostPtr = nullptr;
    if (size == 0) return {ACL_ERROR_INVALID_PARAM, "an allocation of 0 bytes"};
    return Process::get().host_memory().allocate(size, hostPtr);
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return api("aclrtFreeHost", [&] {
    const softnpu::AddressChange change;
    return Process::get().host_memory().release(hostPtr);
  });
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  return api("aclrtMemcpy", [&] { return softnpu::copy(Process::get(), {dst, destMax, src, count, kind}); });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  return api("aclrtMemcpyAsync", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    return softnpu::copy_async(Process::get(), {dst, destMax, src, count, kind}, *target);
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return api("aclrtMemset", [&] { return softnpu::fill(Process::get(), devPtr, maxCount, value, count); });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  return api("aclrtMemsetAsync", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    return softnpu::fill_async(Process::get(), devPtr, maxCount, value, count, *target);
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free, size_t* total) {
  return api("aclrtGetMemInfo", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(free, "free"));
    SOFTNPU_RETURN_IF_ERROR(require(total, "total"));
    Context* context = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
    const auto& heap = context->device->heap();
    *total = heap.capacity();
    *free = heap.capacity() - heap.used();
    return Status::ok();
  });
}
