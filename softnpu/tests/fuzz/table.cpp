#include "fuzz/table.h"

#include <cstring>

#include "softnpu/softnpu.h"

namespace fuzz {
namespace {

// `code` of a call that made `*handle`.
aclError made(Handles& handles, void* const* handle, aclError code) {
  if (code == ACL_SUCCESS) handles.made(*handle);
  return code;
}

// `code` of a call that ended `handle`.
aclError ended(Handles& handles, void* handle, aclError code) {
  if (code == ACL_SUCCESS) handles.ended(handle);
  return code;
}

void* stream(Draw& d) { return d.world.streams.draw(d.random); }
void* event(Draw& d) { return d.world.events.draw(d.random); }

aclError make_event(Draw& d, aclError (*function)(aclrtEvent*, uint32_t)) {
  aclrtEvent out = nullptr;
  const aclError code = function(&out, d.number(16));
  return made(d.world.events, &out, code);
}

aclError make_memory(Draw& d, aclError (*function)(void**, size_t, aclrtMemMallocPolicy)) {
  void* out = nullptr;
  const aclError code = function(&out, d.size(), static_cast<aclrtMemMallocPolicy>(d.number(8)));
  return made(d.world.memory, &out, code);
}

aclError launch(Draw& d) {
  softnpuTask task{"fuzz", static_cast<int32_t>(d.number(2)), nullptr, [](void*) {}, nullptr};
  if (d.once_in(4)) {
    task.run = [](void*, char* message, size_t size) -> aclError {
      std::strncpy(message, "fails on purpose", size);
      return ACL_ERROR_RT_AICORE_EXCEPTION;
    };
  } else {
    task.run = [](void*, char*, size_t) -> aclError { return ACL_SUCCESS; };
  }
  return softnpuLaunch(stream(d), d.once_in(16) ? nullptr : &task);
}

aclError export_key(Draw& d) {
  std::array<char, ACL_IPC_HANDLE_SIZE> key{};
  void* address = d.world.memory.draw(d.random);
  const size_t length = d.once_in(8) ? d.number(65) : key.size();
  const aclError code = aclrtIpcMemGetExportKey(address, d.size(), key.data(), length, 0);
  if (code != ACL_SUCCESS) return code;
  std::lock_guard lock(d.world.keys_mutex);
  d.world.keys.emplace_back(key.data());
  return code;
}

aclError make_physical(Draw& d) {
  aclrtPhysicalMemProp prop{};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {static_cast<uint32_t>(d.device()),
                   d.once_in(8) ? static_cast<aclrtMemLocationType>(d.number(5)) : ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtDrvMemHandle out = nullptr;
  const aclError code = aclrtMallocPhysical(&out, d.size(), d.once_in(16) ? nullptr : &prop, d.once_in(16) ? 1 : 0);
  return made(d.world.physical, &out, code);
}

aclError map(Draw& d) {
  constexpr size_t kPage = size_t{2} << 20;
  auto* at = static_cast<char*>(d.world.ranges.draw(d.random)) + d.number(3) * kPage;
  const size_t size = d.once_in(4) ? d.size() : kPage;
  return aclrtMapMem(at, size, d.number(3) * kPage, d.world.physical.draw(d.random), d.once_in(16) ? 1 : 0);
}

constexpr Row kTable[] = {
    // process and devices
    {"aclInit", 1, [](Draw&) { return aclInit(nullptr); }},
    {"aclFinalize", 1, [](Draw&) { return aclFinalize(); }},
    {"aclrtGetVersion", 1,
     [](Draw& d) {
       int32_t version = 0;
       return aclrtGetVersion(&version, &version, d.once_in(4) ? nullptr : &version);
     }},
    {"aclrtGetDeviceCount", 1,
     [](Draw& d) {
       uint32_t count = 0;
       return aclrtGetDeviceCount(d.once_in(4) ? nullptr : &count);
     }},
    {"aclrtSetDevice", 4, [](Draw& d) { return aclrtSetDevice(d.device()); }},
    {"aclrtResetDevice", 1, [](Draw& d) { return d.once_in(8) ? aclrtResetDevice(d.device()) : ACL_SUCCESS; }},
    {"aclrtGetDevice", 1,
     [](Draw& d) {
       int32_t id = 0;
       return aclrtGetDevice(d.once_in(8) ? nullptr : &id);
     }},
    {"aclrtSynchronizeDevice", 1, [](Draw&) { return aclrtSynchronizeDevice(); }},
    {"aclrtSynchronizeDeviceWithTimeout", 1, [](Draw& d) { return aclrtSynchronizeDeviceWithTimeout(d.timeout()); }},
    {"aclrtGetRunMode", 1,
     [](Draw&) {
       aclrtRunMode mode = ACL_HOST;
       return aclrtGetRunMode(&mode);
     }},
    {"aclrtGetDeviceInfo", 1,
     [](Draw& d) {
       int64_t value = 0;
       return aclrtGetDeviceInfo(static_cast<uint32_t>(d.device()), static_cast<aclrtDevAttr>(d.number(400)), &value);
     }},
    {"aclrtDeviceCanAccessPeer", 1,
     [](Draw& d) {
       int32_t can = 0;
       return aclrtDeviceCanAccessPeer(&can, d.device(), d.device());
     }},
    {"softnpuDeviceRange", 1,
     [](Draw& d) {
       void* base = nullptr;
       size_t size = 0;
       return softnpuDeviceRange(d.device(), &base, &size);
     }},
    {"softnpuKernelOffset", 1,
     [](Draw& d) {
       ptrdiff_t offset = 0;
       return softnpuKernelOffset(d.device(), &offset);
     }},
    {"softnpuKernelAddress", 2,
     [](Draw& d) {
       void* kernel = nullptr;
       return softnpuKernelAddress(d.world.memory.draw(d.random), d.size(), &kernel);
     }},
    // contexts
    {"aclrtCreateContext", 1,
     [](Draw& d) {
       aclrtContext out = nullptr;
       const aclError code = aclrtCreateContext(&out, d.device());
       return made(d.world.contexts, &out, code);
     }},
    {"aclrtDestroyContext", 1,
     [](Draw& d) {
       void* context = d.world.contexts.draw(d.random);
       return ended(d.world.contexts, context, aclrtDestroyContext(context));
     }},
    {"aclrtSetCurrentContext", 2, [](Draw& d) { return aclrtSetCurrentContext(d.world.contexts.draw(d.random)); }},
    {"aclrtGetCurrentContext", 1,
     [](Draw& d) {
       aclrtContext context = nullptr;
       return aclrtGetCurrentContext(d.once_in(8) ? nullptr : &context);
     }},
    // streams
    {"aclrtCreateStream", 2,
     [](Draw& d) {
       aclrtStream out = nullptr;
       const aclError code = aclrtCreateStream(&out);
       return made(d.world.streams, &out, code);
     }},
    {"aclrtCreateStreamWithConfig", 1,
     [](Draw& d) {
       aclrtStream out = nullptr;
       const aclError code = aclrtCreateStreamWithConfig(&out, d.number(8), d.number(4));
       return made(d.world.streams, &out, code);
     }},
    {"aclrtDestroyStream", 1,
     [](Draw& d) {
       void* handle = stream(d);
       return ended(d.world.streams, handle, aclrtDestroyStream(handle));
     }},
    {"aclrtDestroyStreamForce", 1,
     [](Draw& d) {
       void* handle = stream(d);
       return ended(d.world.streams, handle, aclrtDestroyStreamForce(handle));
     }},
    {"aclrtSynchronizeStream", 2, [](Draw& d) { return aclrtSynchronizeStream(stream(d)); }},
    {"aclrtSynchronizeStreamWithTimeout", 1,
     [](Draw& d) { return aclrtSynchronizeStreamWithTimeout(stream(d), d.timeout()); }},
    {"aclrtStreamQuery", 2,
     [](Draw& d) {
       aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
       return aclrtStreamQuery(stream(d), d.once_in(8) ? nullptr : &status);
     }},
    {"aclrtStreamWaitEvent", 8, [](Draw& d) { return aclrtStreamWaitEvent(stream(d), event(d)); }},
    {"softnpuLaunch", 8, launch},
    // events
    {"aclrtCreateEvent", 1,
     [](Draw& d) { return make_event(d, [](aclrtEvent* out, uint32_t) { return aclrtCreateEvent(out); }); }},
    {"aclrtCreateEventWithFlag", 1, [](Draw& d) { return make_event(d, aclrtCreateEventWithFlag); }},
    {"aclrtCreateEventExWithFlag", 1, [](Draw& d) { return make_event(d, aclrtCreateEventExWithFlag); }},
    {"aclrtDestroyEvent", 2,
     [](Draw& d) {
       void* handle = event(d);
       return ended(d.world.events, handle, aclrtDestroyEvent(handle));
     }},
    {"aclrtRecordEvent", 8, [](Draw& d) { return aclrtRecordEvent(event(d), stream(d)); }},
    {"aclrtQueryEventStatus", 2,
     [](Draw& d) {
       aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
       return aclrtQueryEventStatus(event(d), d.once_in(8) ? nullptr : &status);
     }},
    {"aclrtSynchronizeEvent", 2, [](Draw& d) { return aclrtSynchronizeEvent(event(d)); }},
    {"aclrtEventElapsedTime", 1,
     [](Draw& d) {
       float ms = 0;
       return aclrtEventElapsedTime(d.once_in(8) ? nullptr : &ms, event(d), event(d));
     }},
    // memory
    {"aclrtMalloc", 4, [](Draw& d) { return make_memory(d, aclrtMalloc); }},
    {"aclrtMallocAlign32", 2, [](Draw& d) { return make_memory(d, aclrtMallocAlign32); }},
    {"aclrtFree", 4,
     [](Draw& d) {
       void* handle = d.world.memory.draw(d.random);
       return ended(d.world.memory, handle, aclrtFree(handle));
     }},
    {"aclrtMallocHost", 1,
     [](Draw& d) {
       void* out = nullptr;
       // As large as copies of host memory are, or not to be had.
       const aclError code = aclrtMallocHost(&out, d.once_in(4) ? ~d.size() | 1UL << 62 : Draw::kHostBytes);
       return made(d.pinned, &out, code);
     }},
    {"aclrtFreeHost", 1,
     [](Draw& d) {
       void* handle = d.pinned.draw(d.random);
       return ended(d.pinned, handle, aclrtFreeHost(handle));
     }},
    {"aclrtMemcpy", 8,
     [](Draw& d) {
       auto copy = d.copy();
       return aclrtMemcpy(copy.dst, copy.dst_max, copy.src, copy.count, d.kind());
     }},
    {"aclrtMemcpyAsync", 8,
     [](Draw& d) {
       auto copy = d.copy();
       return aclrtMemcpyAsync(copy.dst, copy.dst_max, copy.src, copy.count, d.kind(), stream(d));
     }},
    {"aclrtMemset", 4,
     [](Draw& d) {
       size_t count = 0;
       void* target = d.target(&count);
       return aclrtMemset(target, d.once_in(8) ? d.size() : count, 1, count);
     }},
    {"aclrtMemsetAsync", 4,
     [](Draw& d) {
       size_t count = 0;
       void* target = d.target(&count);
       return aclrtMemsetAsync(target, d.once_in(8) ? d.size() : count, 1, count, stream(d));
     }},
    {"aclrtGetMemInfo", 1,
     [](Draw& d) {
       size_t free = 0;
       size_t total = 0;
       return aclrtGetMemInfo(static_cast<aclrtMemAttr>(d.number(8)), &free, d.once_in(8) ? nullptr : &total);
     }},
    // virtual memory
    {"aclrtReserveMemAddress", 2,
     [](Draw& d) {
       void* out = nullptr;
       const aclError code = aclrtReserveMemAddress(&out, d.size(), d.once_in(8) ? d.size() : 0, nullptr, d.number(3));
       return made(d.world.ranges, &out, code);
     }},
    {"aclrtReleaseMemAddress", 2,
     [](Draw& d) {
       void* handle = d.world.ranges.draw(d.random);
       return ended(d.world.ranges, handle, aclrtReleaseMemAddress(handle));
     }},
    {"aclrtMallocPhysical", 4, make_physical},
    {"aclrtFreePhysical", 3,
     [](Draw& d) {
       void* handle = d.world.physical.draw(d.random);
       return ended(d.world.physical, handle, aclrtFreePhysical(handle));
     }},
    {"aclrtMapMem", 6, map},
    {"aclrtUnmapMem", 3, [](Draw& d) { return aclrtUnmapMem(d.world.ranges.draw(d.random)); }},
    // sharing
    {"aclrtIpcMemGetExportKey", 2, export_key},
    {"aclrtIpcMemSetImportPid", 1,
     [](Draw& d) {
       int32_t pid = 1;
       return aclrtIpcMemSetImportPid(d.key().c_str(), &pid, d.number(2));
     }},
    {"aclrtIpcMemImportByKey", 2,
     [](Draw& d) {
       void* out = nullptr;
       const aclError code = aclrtIpcMemImportByKey(&out, d.key().c_str(), 0);
       return made(d.world.memory, &out, code);
     }},
    {"aclrtIpcMemClose", 2, [](Draw& d) { return aclrtIpcMemClose(d.key().c_str()); }},
    {"aclrtDeviceGetBareTgid", 1,
     [](Draw& d) {
       int32_t pid = 0;
       return aclrtDeviceGetBareTgid(d.once_in(2) ? nullptr : &pid);
     }},
};

}  // namespace

std::span<const Row> table() { return kTable; }

}  // namespace fuzz
