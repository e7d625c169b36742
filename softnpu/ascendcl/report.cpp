// Reports of libraries to the profiler. There is no listener yet: reports are dropped.

#include <chrono>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "ascendcl/api.h"
#include "base/no_destroy.h"
#include "profiling/aprof_pub.h"

using softnpu::api;
using softnpu::require;
using softnpu::Status;

namespace {

// The last registered callback of each module.
struct Callbacks {
  std::mutex mutex;
  std::unordered_map<uint32_t, ProfCommandHandle> by_module;
};

Callbacks& callbacks() {
  static softnpu::NoDestroy<Callbacks> value;
  return value.get();
}

// 64-bit FNV-1a.
uint64_t hash(std::string_view text) {
  uint64_t value = 0xcbf29ce484222325;
  for (unsigned char byte : text) value = (value ^ byte) * 0x100000001b3;
  return value;
}

int32_t drop(const char* function, const void* report) {
  return api(function, [&] { return require(report, "the report"); });
}

}  // namespace

// Stored for a profiler; not called yet.
int32_t MsprofRegisterCallback(uint32_t moduleId, ProfCommandHandle handle) {
  return api("MsprofRegisterCallback", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(reinterpret_cast<const void*>(handle), "handle"));
    std::lock_guard lock(callbacks().mutex);
    callbacks().by_module[moduleId] = handle;
    return Status::ok();
  });
}

int32_t MsprofReportApi(uint32_t, const MsprofApi* api) { return drop("MsprofReportApi", api); }
int32_t MsprofReportCompactInfo(uint32_t, void* data, uint32_t) { return drop("MsprofReportCompactInfo", data); }
int32_t MsprofReportAdditionalInfo(uint32_t, void* data, uint32_t) { return drop("MsprofReportAdditionalInfo", data); }

// The id is a hash of the text, so that nothing is stored. 0 without text.
uint64_t MsprofGetHashId(const char* hashInfo, size_t length) {
  uint64_t id = 0;
  (void)api("MsprofGetHashId", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(hashInfo, "hashInfo"));
    id = hash({hashInfo, length});
    return Status::ok();
  });
  return id;
}

uint64_t MsprofSysCycleTime(void) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}
