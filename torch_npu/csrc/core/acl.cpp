#include "core/acl.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <softnpu/launch.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <string>
#include <utility>

#include "core/environment.h"

namespace torch_npu {
namespace {

std::string recent_message() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? std::string() : std::string(message);
}

// What failed, of this thread's newest error (softnpu/launch.h). Another CANN does not say it.
int32_t recent_cause() {
  static const auto cause =
      reinterpret_cast<decltype(&softnpuRecentErrorCause)>(bound_symbol("softnpuRecentErrorCause"));
  return cause == nullptr ? SOFTNPU_CAUSE_CALL : cause();
}

}  // namespace

std::string with_hint(std::string message) {
  if (launch_is_blocking() || recent_cause() == SOFTNPU_CAUSE_CALL) return message;
  return std::move(message) +
         "\nThe operator ran asynchronously, so that the stack may be of a later one: with ASCEND_LAUNCH_BLOCKING=1 "
         "the line that called it raises.";
}

std::string error_tail(const char* code, const char* text) {
  // Programs that show messages to people omit the line.
  if (*environment::flag("TORCH_NPU_COMPACT_ERROR_OUTPUT").value) return {};
  std::array<char, 32> stamp{};
  std::time_t now = std::time(nullptr);
  std::tm local{};
  std::strftime(stamp.data(), stamp.size(), "%Y-%m-%d-%H:%M:%S", localtime_r(&now, &local));
  int32_t device = -1;
  if (aclrtGetDevice(&device) != ACL_SUCCESS) {
    device = -1;
    recent_message();  // clears the error that this thread has no device yet
  }
  const std::string rank = environment::is_set("RANK") ? environment::text("RANK") : "-1";
  return c10::str("\n[ERROR] ", stamp.data(), " (PID:", getpid(), ", Device:", device, ", RankID:", rank, ") ", code,
                  " ", text);
}

void acl_check(aclError code, const char* call, std::source_location where) {
  if (C10_LIKELY(code == ACL_SUCCESS)) return;
  std::string message = recent_message();
  if (message.empty()) message = c10::str(call, " failed with error ", code);
  const bool is_index = recent_cause() == SOFTNPU_CAUSE_INDEX;
  message = with_hint(std::move(message)) + error_tail("ERR00100", "PTA call acl api failed");
  c10::SourceLocation location{where.function_name(), where.file_name(), where.line()};
  if (is_index) throw c10::IndexError(location, message);
  throw c10::Error(location, message);
}

void acl_warn(aclError code, const char* call) noexcept {
  if (code == ACL_SUCCESS) return;
  try {
    TORCH_WARN(call, " failed: ", recent_message());
  } catch (...) {
    // A warning that the user turns into an error must not end the process here.
  }
}

void* bound_symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

}  // namespace torch_npu
