#include "fault/scenario.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdio>

#include "acl/acl.h"
#include "make_task.h"
#include "softnpu/softnpu.h"

namespace fault {
namespace {

constexpr size_t kBytes = size_t{128} << 10;  // more than what is copied inline
constexpr size_t kPage = size_t{2} << 20;

// The resources of a run, stored here for clean_up().
struct Handles {
  aclrtStream first = nullptr;   // of device 0
  aclrtStream second = nullptr;  // of device 1
  aclrtEvent event = nullptr;
  aclrtEvent shared = nullptr;  // shared with other processes
  aclrtEvent opened = nullptr;  // the same event, opened by its handle
  aclrtContext context = nullptr;
  void* pinned = nullptr;
  std::atomic<bool> gate{false};
} handles;

std::array<unsigned char, kBytes> host;

// Occupies its executor until the gate opens, so that the second stream has to wait.
softnpuTask gate_task() {
  return make_task("gate", 0, [](void*, char*, size_t) -> aclError {
    handles.gate.wait(false);
    return ACL_SUCCESS;
  });
}

softnpuTask small_task() {
  return make_task("small", 1, [](void*, char*, size_t) -> aclError { return ACL_SUCCESS; });
}

void open_gate() {
  handles.gate = true;
  handles.gate.notify_all();
}

// The first call that failed.
struct Failure {
  const char* call = nullptr;
  aclError code = ACL_SUCCESS;
  const char* message = nullptr;
};

bool failed(Failure* failure, const char* call, aclError code) {
  if (code == ACL_SUCCESS) return false;
  *failure = {call, code, aclGetRecentErrMsg()};
  return true;
}

#define STEP(call)                                  \
  do {                                              \
    if (failed(failure, #call, call)) return false; \
  } while (false)

bool work(Failure* failure) {
  void* a = nullptr;
  void* b = nullptr;
  host.fill(7);
  handles.gate = false;
  if (const aclError code = aclInit(nullptr); code != ACL_ERROR_REPEAT_INITIALIZE) STEP(code);
  STEP(aclrtSetDevice(1));
  STEP(aclrtCreateStream(&handles.second));
  STEP(aclrtSetDevice(0));
  STEP(aclrtCreateStream(&handles.first));
  STEP(aclrtCreateEventExWithFlag(&handles.event, ACL_EVENT_SYNC));
  STEP(aclrtMalloc(&a, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  STEP(aclrtMalloc(&b, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  STEP(aclrtMallocHost(&handles.pinned, kBytes));
  STEP(aclrtMemcpy(a, kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  const softnpuTask gate = gate_task();
  const softnpuTask small = small_task();
  STEP(softnpuLaunch(handles.first, &gate));
  STEP(aclrtMemsetAsync(b, kBytes, 3, kBytes, handles.first));
  STEP(aclrtRecordEvent(handles.event, handles.first));
  STEP(aclrtStreamWaitEvent(handles.second, handles.event));
  STEP(softnpuLaunch(handles.second, &small));
  STEP(aclrtMemcpyAsync(b, kBytes / 2, a, kBytes / 2, ACL_MEMCPY_DEVICE_TO_DEVICE, handles.second));
  STEP(aclrtMemcpyAsync(handles.pinned, kBytes, b, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, handles.second));
  open_gate();
  STEP(aclrtSynchronizeStream(handles.first));
  STEP(aclrtSynchronizeStream(handles.second));
  STEP(aclrtSynchronizeEvent(handles.event));

  void* range = nullptr;
  aclrtDrvMemHandle physical = nullptr;
  aclrtPhysicalMemProp prop{};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  STEP(aclrtReserveMemAddress(&range, 2 * kPage, 0, nullptr, 0));
  STEP(aclrtMallocPhysical(&physical, kPage, &prop, 0));
  STEP(aclrtMapMem(range, kPage, 0, physical, 0));
  STEP(aclrtMemset(range, kPage, 1, kPage));
  STEP(aclrtUnmapMem(range));
  uint64_t number = 0;
  aclrtDrvMemHandle imported = nullptr;
  STEP(aclrtMemExportToShareableHandle(physical, ACL_MEM_HANDLE_TYPE_NONE,
                                       ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, &number));
  STEP(aclrtMemImportFromShareableHandle(number, 0, &imported));
  STEP(aclrtMapMem(range, kPage, 0, imported, 0));
  STEP(aclrtUnmapMem(range));
  STEP(aclrtFreePhysical(imported));
  STEP(aclrtFreePhysical(physical));
  STEP(aclrtReleaseMemAddress(range));

  std::array<char, ACL_IPC_HANDLE_SIZE> key{};
  void* opened = nullptr;
  STEP(aclrtIpcMemGetExportKey(a, kBytes, key.data(), key.size(), 0));
  STEP(aclrtIpcMemImportByKey(&opened, key.data(), 0));
  STEP(aclrtMemcpy(host.data(), kBytes, opened, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  STEP(aclrtIpcMemClose(key.data()));

  aclrtIpcEventHandle handle{};
  STEP(aclrtCreateEventExWithFlag(&handles.shared, ACL_EVENT_IPC));
  STEP(aclrtIpcGetEventHandle(handles.shared, &handle));
  STEP(aclrtIpcOpenEventHandle(handle, &handles.opened));
  STEP(aclrtMemset(a, kBytes, 0, kBytes));
  STEP(aclrtValueWait(a, 1, ACL_STREAM_WAIT_VALUE_EQ, handles.first));
  STEP(aclrtRecordEvent(handles.shared, handles.first));
  STEP(aclrtStreamWaitEvent(handles.second, handles.opened));
  STEP(aclrtLaunchHostFunc(
      handles.second, [](void*) {}, nullptr));
  STEP(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), handles.second));
  STEP(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_NO_BLOCK, handles.second));
  // The wait may have failed to start, which the synchronisation reports. The write prevents a hang in that case.
  STEP(aclrtValueWrite(a, 1, 0, nullptr));
  STEP(aclrtSynchronizeStream(handles.first));
  STEP(aclrtSynchronizeStream(handles.second));
  STEP(aclrtProcessReport(-1));
  STEP(aclrtUnSubscribeReport(static_cast<uint64_t>(pthread_self()), handles.second));

  STEP(aclrtCreateContext(&handles.context, 0));
  STEP(aclrtSynchronizeDevice());
  STEP(aclrtDestroyContext(handles.context));
  STEP(aclrtSetDevice(0));
  STEP(aclrtFree(a));
  STEP(aclrtFree(b));
  return true;
}

bool data_right() {
  const auto* pinned = static_cast<const unsigned char*>(handles.pinned);
  return host[kBytes - 1] == 7 && pinned[0] == 7 && pinned[kBytes / 2 - 1] == 7 && pinned[kBytes / 2] == 3 &&
         pinned[kBytes - 1] == 3;
}

bool all_free(int32_t device) {
  size_t free = 0;
  size_t total = 0;
  return aclrtSetDevice(device) == ACL_SUCCESS && aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS &&
         free == total;
}

}  // namespace

Outcome run_scenario() {
  Failure failure;
  if (work(&failure)) {
    if (data_right()) return Outcome::kDone;
    std::fprintf(stderr, "every call succeeded and the data are wrong\n");
    return Outcome::kBroken;
  }
  if (failure.message != nullptr) return Outcome::kRefused;
  std::fprintf(stderr, "%s failed with %d and without a message\n", failure.call, failure.code);
  return Outcome::kBroken;
}

bool clean_up() {
  open_gate();
  (void)aclInit(nullptr);  // it may be the call that failed
  bool good = true;
  for (aclrtStream* stream : {&handles.first, &handles.second}) {
    // By force: it may wait for a value that is never written. It may report a task's failure.
    if (*stream != nullptr) (void)aclrtDestroyStreamForce(*stream);
    *stream = nullptr;
  }
  for (aclrtEvent event : {handles.event, handles.shared, handles.opened}) {
    if (event != nullptr) good = aclrtDestroyEvent(event) == ACL_SUCCESS && good;
  }
  if (handles.pinned != nullptr) good = aclrtFreeHost(handles.pinned) == ACL_SUCCESS && good;
  handles.event = handles.shared = handles.opened = handles.context = handles.pinned = nullptr;
  for (int32_t device : {0, 1}) good = softnpuReleaseDevice(device) == ACL_SUCCESS && good;
  for (int32_t device : {0, 1}) good = all_free(device) && good;
  if (!good) std::fprintf(stderr, "cleaning up failed: %s\n", aclGetRecentErrMsg());
  return good;
}

}  // namespace fault
