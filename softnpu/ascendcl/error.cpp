#include "acl/rt/error.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "acl/acl.h"
#include "ascendcl/api.h"
#include "base/log.h"
#include "runtime/exceptions.h"
#include "softnpu/launch.h"

namespace softnpu {
namespace {

struct RecentError {
  aclError code = ACL_SUCCESS;
  Cause cause = Cause::kCall;
  std::string newest;
  std::string handed_out;
  bool without_text = false;  // no memory for the text
};

thread_local RecentError recent_error;
thread_local constinit bool is_no_failure = false;  // of the recent error; apart, since every successful call reads it

struct State {
  std::string_view function;
  aclError code;
};
// Codes that report a state: nothing failed, and programs go on without a look at the text. The log has them as
// information.
constexpr std::array kStates = {
    State{"aclInit", ACL_ERROR_REPEAT_INITIALIZE},
    State{"aclrtProcessReport", ACL_ERROR_RT_REPORT_TIMEOUT},
    State{"aclrtProcessReport", ACL_ERROR_RT_THREAD_SUBSCRIBE},
    State{"acltdtReceiveTensor", ACL_ERROR_FAILURE},  // the channel was stopped
    State{"acltdtReceiveTensor", ACL_ERROR_RT_QUEUE_EMPTY},
    State{"acltdtSendTensor", ACL_ERROR_FAILURE},
    State{"acltdtSendTensor", ACL_ERROR_RT_QUEUE_FULL},
};
constexpr bool reports_no_failure(std::string_view function, aclError code) {
  return std::ranges::any_of(kStates,
                             [&](const State& state) { return state.code == code && state.function == function; });
}

constexpr const char* kGeneralText = "failed without a text of its own";

template <typename T>
uint32_t field(const char* function, const aclrtExceptionInfo* info, T aclrtExceptionInfo::*member) noexcept {
  if (info != nullptr) return info->*member;
  record_error(function, ACL_ERROR_INVALID_PARAM, "info is null");
  return UINT32_MAX;
}

}  // namespace

void record_error(const char* function, aclError code, const char* message, Cause cause) noexcept {
  recent_error.code = code;
  recent_error.cause = cause;
  recent_error.newest.clear();
  recent_error.without_text = true;
  is_no_failure = reports_no_failure(function, code);
  try {
    const bool has_text = message != nullptr && *message != '\0';
    recent_error.newest = text(function, ": ", has_text ? message : kGeneralText, " [error ", code, "]");
    recent_error.without_text = false;
    log(is_no_failure ? ACL_INFO : ACL_ERROR, "acl", recent_error.newest);
  } catch (...) {
    // aclGetRecentErrMsg reports it.
  }
}

void record_success() noexcept {
  if (!is_no_failure) return;
  is_no_failure = false;
  recent_error.code = ACL_SUCCESS;
  recent_error.newest.clear();
  recent_error.without_text = false;
}

}  // namespace softnpu

const char* aclGetRecentErrMsg() {
  auto& recent = softnpu::recent_error;
  if (std::exchange(recent.without_text, false)) return "out of host memory: the error's own text is lost";
  if (recent.newest.empty()) return nullptr;
  recent.handed_out.swap(recent.newest);
  recent.newest.clear();
  return recent.handed_out.c_str();
}

int32_t softnpuRecentErrorCause(void) {
  switch (softnpu::recent_error.cause) {
    case softnpu::Cause::kTask: return SOFTNPU_CAUSE_TASK;
    case softnpu::Cause::kIndex: return SOFTNPU_CAUSE_INDEX;
    case softnpu::Cause::kCall: break;
  }
  return SOFTNPU_CAUSE_CALL;
}

using softnpu::api;
using softnpu::Device;
using softnpu::require;
using softnpu::Status;
using softnpu::text;

// Every level is the thread level, the only one in the enumeration.
aclError aclrtPeekAtLastError(aclrtLastErrLevel) { return softnpu::recent_error.code; }

aclError aclrtGetLastError(aclrtLastErrLevel) { return std::exchange(softnpu::recent_error.code, ACL_SUCCESS); }

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  softnpu::set_exception_callback(callback);
  return ACL_SUCCESS;
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return softnpu::field(__func__, info, &aclrtExceptionInfo::task_id);
}
uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return softnpu::field(__func__, info, &aclrtExceptionInfo::stream_id);
}
uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return softnpu::field(__func__, info, &aclrtExceptionInfo::thread_id);
}
uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return softnpu::field(__func__, info, &aclrtExceptionInfo::device_id);
}
uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) {
  return softnpu::field(__func__, info, &aclrtExceptionInfo::error_code);
}

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t, size_t* retSize) {
  return api("aclrtGetMemUceInfo", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(memUceInfoArray, "memUceInfoArray"));
    SOFTNPU_RETURN_IF_ERROR(require(retSize, "retSize"));
    *retSize = 0;
    Device* device = nullptr;
    return softnpu::require_set_up(deviceId, &device);
  });
}

aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo*, size_t) {
  return api("aclrtMemUceRepair", [&]() -> Status {
    return {ACL_ERROR_FEATURE_UNSUPPORTED, text("device ", deviceId, " has host memory: there is nothing to repair")};
  });
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo) {
  return api("aclrtGetErrorVerbose", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(errorInfo, "errorInfo"));
    *errorInfo = {};  // ACL_RT_NO_ERROR
    Device* device = nullptr;
    return softnpu::require_set_up(deviceId, &device);
  });
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo*) {
  return api("aclrtRepairError", [&]() -> Status {
    return {ACL_ERROR_FEATURE_UNSUPPORTED, text("device ", deviceId, " has no hardware that could be repaired")};
  });
}
