#include "fuzz/table.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>

#include "make_task.h"
#include "softnpu/softnpu.h"
#include "softnpu/written_memory.h"

namespace fuzz {
namespace {

// Records `*handle` if the call created it; returns `code`.
aclError created(Handles& handles, void* const* handle, aclError code) {
  if (code == ACL_SUCCESS) handles.created(*handle);
  return code;
}

// Records that the call ended `handle`; returns `code`.
aclError ended(Handles& handles, void* handle, aclError code) {
  if (code == ACL_SUCCESS) handles.ended(handle);
  return code;
}

void* stream(Draw& d) { return d.world.streams.draw(d.random); }
void* event(Draw& d) { return d.world.events.draw(d.random); }

aclError make_event(Draw& d, aclError (*function)(aclrtEvent*, uint32_t)) {
  aclrtEvent out = nullptr;
  const aclError code = function(&out, d.number(16));
  return created(d.world.events, &out, code);
}

aclError make_memory(Draw& d, aclError (*function)(void**, size_t, aclrtMemMallocPolicy)) {
  void* out = nullptr;
  const aclError code = function(&out, d.size(), static_cast<aclrtMemMallocPolicy>(d.number(8)));
  return created(d.world.memory, &out, code);
}

aclError launch(Draw& d) {
  softnpuTask task = make_task("fuzz", static_cast<int32_t>(d.number(2)), nullptr);
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
  return created(d.world.physical, &out, code);
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
    // Followed by aclInit: most calls do nothing without it. Other threads may run in between.
    {"aclFinalize", 1,
     [](Draw&) {
       const aclError code = aclFinalize();
       (void)aclInit(nullptr);
       return code;
     }},
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
    {"softnpuReleaseDevice", 1, [](Draw& d) { return d.once_in(8) ? softnpuReleaseDevice(d.device()) : ACL_SUCCESS; }},
    {"aclrtGetDevice", 1,
     [](Draw& d) {
       int32_t id = 0;
       return aclrtGetDevice(d.once_in(8) ? nullptr : &id);
     }},
    {"aclrtSynchronizeDevice", 1, [](Draw&) { return aclrtSynchronizeDevice(); }},
    {"aclrtSynchronizeDeviceWithTimeout", 1, [](Draw& d) { return aclrtSynchronizeDeviceWithTimeout(d.timeout()); }},
    {"aclrtSetOpExecuteTimeOutV2", 1,
     [](Draw& d) {
       constexpr uint64_t kMicroseconds[] = {0, 0, 1, 1000, UINT64_MAX};
       uint64_t actual = 0;
       return aclrtSetOpExecuteTimeOutV2(kMicroseconds[d.number(5)], d.once_in(8) ? nullptr : &actual);
     }},
    {"aclrtSetOpWaitTimeout", 1, [](Draw& d) { return aclrtSetOpWaitTimeout(static_cast<uint32_t>(d.number(3))); }},
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
    {"softnpuBumpWriteEpoch", 4,
     [](Draw& d) {
       softnpuBumpWriteEpoch(d.world.memory.draw(d.random), d.size());
       return ACL_SUCCESS;
     }},
    {"softnpuLastWriteEpoch", 2,
     [](Draw& d) {
       (void)softnpuLastWriteEpoch(d.world.memory.draw(d.random), d.size());
       return ACL_SUCCESS;
     }},
    {"softnpuMemoryFreed", 2,
     [](Draw& d) {
       softnpuMemoryFreed(d.world.memory.draw(d.random), d.size());
       return ACL_SUCCESS;
     }},
    {"softnpuTracksBlocks", 1,
     [](Draw&) {
       (void)softnpuTracksBlocks();
       return ACL_SUCCESS;
     }},
    {"softnpuBlockAllocated", 2,
     [](Draw& d) {
       softnpuBlockAllocated(d.world.memory.draw(d.random), d.size(), nullptr);
       return ACL_SUCCESS;
     }},
    {"softnpuBlockFreed", 2,
     [](Draw& d) {
       softnpuBlockFreed(d.world.memory.draw(d.random));
       return ACL_SUCCESS;
     }},
    {"softnpuFindBlock", 2,
     [](Draw& d) {
       softnpuBlocks* blocks = softnpuTakeBlocks();
       softnpuBlock before{};
       softnpuBlock behind{};
       (void)softnpuFindBlock(blocks, d.world.memory.draw(d.random), &before, &behind);
       softnpuReleaseBlocks(blocks);
       return ACL_SUCCESS;
     }},
    {"softnpuKernelWrote", 2,
     [](Draw& d) {
       softnpuKernelWrote(d.world.memory.draw(d.random), d.size());
       return ACL_SUCCESS;
     }},
    {"softnpuFirstUnwritten", 3,
     [](Draw& d) {
       const void* until = nullptr;
       softnpuBlocks* blocks = softnpuTakeBlocks();
       (void)softnpuFirstUnwritten(blocks, d.world.memory.draw(d.random), d.size(), &until);
       softnpuReleaseBlocks(blocks);
       return ACL_SUCCESS;
     }},
    {"softnpuOutputDead", 2,
     [](Draw& d) { return softnpuOutputDead(stream(d), d.world.memory.draw(d.random), d.size()); }},
    {"softnpuTryMallocSameDevice", 1,
     [](Draw& d) {
       void* block = softnpuTryMallocSameDevice(d.world.memory.draw(d.random), d.number(1 << 20));
       return block == nullptr ? ACL_SUCCESS : softnpuFree(block);
     }},
    {"softnpuHasRoom", 1,
     [](Draw& d) {
       (void)softnpuHasRoom(d.world.memory.draw(d.random));
       return ACL_SUCCESS;
     }},
    {"softnpuFree", 1,
     [](Draw& d) {
       void* handle = d.world.memory.draw(d.random);
       return ended(d.world.memory, handle, softnpuFree(handle));
     }},
    // contexts
    {"aclrtCreateContext", 1,
     [](Draw& d) {
       aclrtContext out = nullptr;
       const aclError code = aclrtCreateContext(&out, d.device());
       return created(d.world.contexts, &out, code);
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
       return created(d.world.streams, &out, code);
     }},
    {"aclrtCreateStreamWithConfig", 1,
     [](Draw& d) {
       aclrtStream out = nullptr;
       const aclError code = aclrtCreateStreamWithConfig(&out, d.number(8), d.number(4));
       return created(d.world.streams, &out, code);
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
       // A size as of copies of host memory, or an impossible one.
       const aclError code = aclrtMallocHost(&out, d.once_in(4) ? ~d.size() | 1UL << 62 : Draw::kHostBytes);
       return created(d.pinned, &out, code);
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
       return created(d.world.ranges, &out, code);
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
       return created(d.world.memory, &out, code);
     }},
    {"aclrtIpcMemClose", 2, [](Draw& d) { return aclrtIpcMemClose(d.key().c_str()); }},
    {"aclrtDeviceGetBareTgid", 1,
     [](Draw& d) {
       int32_t pid = 0;
       return aclrtDeviceGetBareTgid(d.once_in(2) ? nullptr : &pid);
     }},
    // stream settings and queries
    {"aclrtCreateStreamWithConfig", 1,
     [](Draw& d) {
       aclrtStream out = nullptr;
       const aclError code = aclrtCreateStreamWithConfig(&out, d.number(10), d.once_in(8) ? d.number(64) : 0);
       return created(d.world.streams, &out, code);
     }},
    {"aclrtStreamGetId", 1,
     [](Draw& d) {
       int32_t id = 0;
       return aclrtStreamGetId(stream(d), d.once_in(8) ? nullptr : &id);
     }},
    {"aclrtStreamAbort", 2, [](Draw& d) { return aclrtStreamAbort(stream(d)); }},
    {"aclrtDeviceTaskAbort", 1, [](Draw& d) { return aclrtDeviceTaskAbort(d.device(), d.number(3)); }},
    {"aclrtSetStreamFailureMode", 1, [](Draw& d) { return aclrtSetStreamFailureMode(stream(d), d.number(3)); }},
    {"aclrtSetStreamAttribute", 1,
     [](Draw& d) {
       aclrtStreamAttrValue value{};
       value.failureMode = d.number(3);
       return aclrtSetStreamAttribute(stream(d), static_cast<aclrtStreamAttr>(d.number(6)), &value);
     }},
    {"aclrtValueWrite", 3,
     [](Draw& d) { return aclrtValueWrite(d.world.memory.draw(d.random), d.number(9), d.number(2), stream(d)); }},
    // With a comparison that every value fulfils: a wait for another one could last for ever.
    {"aclrtValueWait", 3,
     [](Draw& d) { return aclrtValueWait(d.world.memory.draw(d.random), 0, ACL_STREAM_WAIT_VALUE_GEQ, stream(d)); }},
    {"aclrtCmoAsync", 1,
     [](Draw& d) {
       return aclrtCmoAsync(d.world.memory.draw(d.random), d.size(), static_cast<aclrtCmoType>(d.number(6)), stream(d));
     }},
    {"aclrtGetOverflowStatus", 1,
     [](Draw& d) { return aclrtGetOverflowStatus(d.world.memory.draw(d.random), d.size(), stream(d)); }},
    {"aclrtSetStreamOverflowSwitch", 1, [](Draw& d) { return aclrtSetStreamOverflowSwitch(stream(d), d.number(3)); }},
    // functions of the program
    {"aclrtLaunchHostFunc", 2,
     [](Draw& d) {
       return aclrtLaunchHostFunc(
           stream(d), d.once_in(16) ? nullptr : +[](void*) {}, nullptr);
     }},
    {"aclrtSubscribeReport", 1,
     [](Draw& d) { return aclrtSubscribeReport(d.once_in(4) ? d.number(99) : pthread_self(), stream(d)); }},
    {"aclrtUnSubscribeReport", 1,
     [](Draw& d) { return aclrtUnSubscribeReport(d.once_in(4) ? d.number(99) : pthread_self(), stream(d)); }},
    {"aclrtLaunchCallback", 2,
     [](Draw& d) {
       const auto type = d.once_in(8) ? static_cast<aclrtCallbackBlockType>(7) : ACL_CALLBACK_NO_BLOCK;
       return aclrtLaunchCallback([](void*) {}, nullptr, type, stream(d));
     }},
    {"aclrtProcessReport", 2, [](Draw& d) { return aclrtProcessReport(static_cast<int32_t>(d.number(2))); }},
    {"aclrtSetExceptionInfoCallback", 1,
     [](Draw& d) { return aclrtSetExceptionInfoCallback(d.once_in(2) ? nullptr : +[](aclrtExceptionInfo*) {}); }},
    {"aclrtGetLastError", 1,
     [](Draw&) {
       (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);  // it is the code of an earlier call
       return ACL_SUCCESS;
     }},
    // event queries
    {"aclrtQueryEvent", 1,
     [](Draw& d) {
       aclrtEventStatus status{};
       return aclrtQueryEvent(event(d), d.once_in(8) ? nullptr : &status);
     }},
    {"aclrtQueryEventWaitStatus", 1,
     [](Draw& d) {
       aclrtEventWaitStatus status{};
       return aclrtQueryEventWaitStatus(event(d), &status);
     }},
    {"aclrtEventGetTimestamp", 1,
     [](Draw& d) {
       uint64_t time = 0;
       return aclrtEventGetTimestamp(event(d), &time);
     }},
    // For an event without waiters: such a wait could last for ever.
    {"aclrtResetEvent", 1,
     [](Draw& d) {
       aclrtEvent own = nullptr;
       if (const aclError code = aclrtCreateEvent(&own); code != ACL_SUCCESS) return code;
       (void)aclrtRecordEvent(own, stream(d));
       const aclError code = aclrtResetEvent(own, stream(d));
       (void)aclrtDestroyEvent(own);
       return code;
     }},
    {"aclrtIpcGetEventHandle", 1,
     [](Draw& d) {
       aclrtIpcEventHandle handle{};
       aclrtEvent own = nullptr;
       if (d.once_in(2)) return aclrtIpcGetEventHandle(event(d), &handle);
       if (const aclError code = aclrtCreateEventExWithFlag(&own, ACL_EVENT_IPC); code != ACL_SUCCESS) return code;
       (void)created(d.world.events, &own, aclrtIpcGetEventHandle(own, &handle));
       aclrtEvent opened = nullptr;
       const aclError code = aclrtIpcOpenEventHandle(handle, &opened);
       return created(d.world.events, &opened, code);
     }},
    // other copies and allocations
    {"aclrtMemcpy2dAsync", 2,
     [](Draw& d) {
       const auto copy = d.copy();
       const size_t width = d.once_in(8) ? d.size() : copy.count / 4;
       return aclrtMemcpy2dAsync(copy.dst, copy.count / 4, copy.src, copy.count / 4, std::min(width, copy.count / 4), 4,
                                 d.kind(), stream(d));
     }},
    {"aclrtMemcpyBatch", 1,
     [](Draw& d) {
       auto copy = d.copy();
       const auto side = [&] { return static_cast<aclrtMemLocationType>(d.number(3)); };
       aclrtMemcpyBatchAttr attr{{0, side()}, {0, side()}, {}};
       size_t first = 0;
       size_t failed = 0;
       return aclrtMemcpyBatch(&copy.dst, &copy.dst_max, &copy.src, &copy.count, 1, &attr, &first, d.number(3),
                               &failed);
     }},
    {"aclrtHostRegisterV2", 1,
     [](Draw& d) {
       const aclError code = aclrtHostRegisterV2(d.host.data(), d.size(), d.number(4));
       (void)aclrtHostUnregister(d.host.data());
       return code;
     }},
    {"aclrtPointerGetAttributes", 1,
     [](Draw& d) {
       aclrtPtrAttributes attributes{};
       return aclrtPointerGetAttributes(d.world.memory.draw(d.random), &attributes);
     }},
    {"aclrtMemFlush", 1, [](Draw& d) { return aclrtMemFlush(d.world.memory.draw(d.random), d.size()); }},
    {"aclrtGetMemUsageInfo", 1,
     [](Draw& d) {
       aclrtMemUsageInfo usage{};
       size_t entries = 0;
       return aclrtGetMemUsageInfo(static_cast<uint32_t>(d.device()), &usage, d.number(2), &entries);
     }},
    {"aclrtMemExportToShareableHandle", 2,
     [](Draw& d) {
       uint64_t number = d.number(1000);
       int32_t pid = 1;
       (void)aclrtMemExportToShareableHandle(d.world.physical.draw(d.random), ACL_MEM_HANDLE_TYPE_NONE, d.number(3),
                                             &number);
       (void)aclrtMemSetPidToShareableHandle(number, &pid, d.number(2));
       void* out = nullptr;
       const aclError code = aclrtMemImportFromShareableHandle(number, d.device(), &out);
       return created(d.world.physical, &out, code);
     }},
    // settings
    {"aclrtSetDeviceResLimit", 1,
     [](Draw& d) {
       return aclrtSetDeviceResLimit(d.device(), static_cast<aclrtDevResLimitType>(d.number(3)), d.number(3));
     }},
    {"aclrtSetStreamResLimit", 1,
     [](Draw& d) {
       return aclrtSetStreamResLimit(stream(d), static_cast<aclrtDevResLimitType>(d.number(3)), d.number(3));
     }},
    {"aclrtUseStreamResInCurrentThread", 1, [](Draw& d) { return aclrtUseStreamResInCurrentThread(stream(d)); }},
    {"aclrtUnuseStreamResInCurrentThread", 1, [](Draw& d) { return aclrtUnuseStreamResInCurrentThread(stream(d)); }},
    {"aclrtGetResInCurrentThread", 1,
     [](Draw& d) {
       uint32_t value = 0;
       return aclrtGetResInCurrentThread(static_cast<aclrtDevResLimitType>(d.number(3)), &value);
     }},
    {"aclrtCtxSetSysParamOpt", 1,
     [](Draw& d) { return aclrtCtxSetSysParamOpt(static_cast<aclSysParamOpt>(d.number(4)), d.number(2)); }},
    {"aclrtGetDeviceUtilizationRate", 1,
     [](Draw& d) {
       aclrtUtilizationInfo busy{};
       return aclrtGetDeviceUtilizationRate(d.device(), &busy);
     }},
    {"aclrtGetPrimaryCtxState", 1,
     [](Draw& d) {
       int32_t active = 0;
       return aclrtGetPrimaryCtxState(d.device(), nullptr, &active);
     }},
    {"aclFinalizeReference", 1,
     [](Draw& d) {
       uint64_t left = 0;
       const aclError code = aclFinalizeReference(d.once_in(2) ? nullptr : &left);
       (void)aclInit(nullptr);
       return code;
     }},
};

}  // namespace

std::span<const Row> table() { return kTable; }

}  // namespace fuzz
