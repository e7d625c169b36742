// The profiler's C functions, also those that libmsprofiler exports.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_prof.h"
#include "base/border.h"
#include "base/text.h"
#include "prof/profile.h"
#include "runtime/config.h"
#include "runtime/stream/event.h"
#include "runtime/stream/trace.h"
#include "softnpu/profile.h"

using softnpu::api;
using softnpu::require;
using softnpu::Status;
using softnpu::text;
using softnpu::prof::Profile;
using softnpu::prof::ProfileConfig;

namespace {

constexpr uint64_t kKnown = ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS | ACL_PROF_AICPU |
                            ACL_PROF_L2CACHE | ACL_PROF_HCCL_TRACE | ACL_PROF_TRAINING_TRACE | ACL_PROF_MSPROFTX |
                            ACL_PROF_RUNTIME_API | ACL_PROF_TASK_TIME_L0 | ACL_PROF_TASK_MEMORY | ACL_PROF_OP_ATTR;

// What a profile of the whole process collects.
constexpr uint64_t kWhole = ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICPU | ACL_PROF_HCCL_TRACE |
                            ACL_PROF_MSPROFTX | ACL_PROF_RUNTIME_API | ACL_PROF_TASK_MEMORY;

Status make_config(const uint32_t* devices, uint32_t count, aclprofAicoreMetrics metrics, uint64_t data,
                   ProfileConfig* out) {
  SOFTNPU_RETURN_IF_ERROR(softnpu::config_status());
  const auto existing = static_cast<uint32_t>(softnpu::config().device_count());
  if (count == 0 || count > existing) {
    return {ACL_ERROR_INVALID_PARAM, text("a profile of ", count, " devices: there are ", existing)};
  }
  SOFTNPU_RETURN_IF_ERROR(require(devices, "deviceIdList"));
  for (uint32_t i = 0; i < count; ++i) {
    if (devices[i] >= existing) {
      return {ACL_ERROR_INVALID_DEVICE, text("device ", devices[i], " does not exist: there are ", existing)};
    }
  }
  if ((data & kKnown) == 0) {
    return {ACL_ERROR_INVALID_PROFILING_CONFIG, text("a profile of the data ", data, ": it holds no bit ACL_PROF_*")};
  }
  *out = {{devices, devices + count}, static_cast<uint32_t>(metrics), data};
  return Status::ok();
}

// Calls use(config) with the live configuration `handle`.
template <typename Use>
Status with_config(const aclprofConfig* handle, const Use& use) {
  ProfileConfig config;
  SOFTNPU_RETURN_IF_ERROR(Profile::get().find_config(handle, &config));
  return use(config);
}

}  // namespace

aclError aclprofInit(const char* profilerResultPath, size_t length) {
  return api("aclprofInit", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(profilerResultPath, "profilerResultPath"));
    if (length == 0) return {ACL_ERROR_INVALID_PARAM, "the path of the profile is empty"};
    return Profile::get().init(std::string(profilerResultPath, length));
  });
}

aclError aclprofFinalize() {
  return api("aclprofFinalize", [] { return Profile::get().finalize(); });
}

aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums, aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents* aicoreEvents, uint64_t dataTypeConfig) {
  aclprofConfig* result = nullptr;
  (void)api("aclprofCreateConfig", [&]() -> Status {
    if (aicoreEvents != nullptr) {
      return {ACL_ERROR_INVALID_PARAM, "aicoreEvents is not null: the cores of a software NPU count no events"};
    }
    ProfileConfig config;
    SOFTNPU_RETURN_IF_ERROR(make_config(deviceIdList, deviceNums, aicoreMetrics, dataTypeConfig, &config));
    result = Profile::get().add_config(std::move(config));
    return Status::ok();
  });
  return result;
}

aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig) {
  return api("aclprofDestroyConfig", [&] { return Profile::get().remove_config(profilerConfig); });
}

aclError aclprofStart(const aclprofConfig* profilerConfig) {
  return api("aclprofStart", [&] {
    return with_config(profilerConfig, [](const ProfileConfig& config) { return Profile::get().start(config); });
  });
}

aclError aclprofStop(const aclprofConfig* profilerConfig) {
  return api("aclprofStop",
             [&] { return with_config(profilerConfig, [](const ProfileConfig&) { return Profile::get().stop(); }); });
}

aclError softnpuProfileWarmup(const aclprofConfig* config) {
  return api("aclprofWarmup", [&] {
    return with_config(config, [](const ProfileConfig& found) { return Profile::get().warm_up(found); });
  });
}

aclError softnpuProfileSet(uint32_t type, const char* value, size_t length) {
  return api("aclprofSetConfig", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(value, "config"));
    return Profile::get().set(type, std::string(value, length));
  });
}

aclError softnpuProfileMark(const char* message, size_t length, aclrtStream stream) {
  return api("aclprofMarkEx", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(message, "msg"));
    softnpuTraceMark("default", std::string(message, length).c_str(), stream, 0);
    return Status::ok();
  });
}

aclError softnpuProfileFromEnvironment(void) {
  return api("SOFTNPU_PROFILE", []() -> Status {
    const std::string& folder = softnpu::config().profile;
    static std::atomic<bool> is_done{false};
    if (folder.empty() || is_done.exchange(true)) return Status::ok();
    ProfileConfig config;
    for (int id = 0; id < softnpu::config().device_count(); ++id) config.devices.push_back(static_cast<uint32_t>(id));
    config.data = kWhole;
    SOFTNPU_RETURN_IF_ERROR(Profile::get().init(folder));
    return Profile::get().start(config);
  });
}
