#include "core/acl.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <string>

namespace torch_npu {
namespace {

std::string recent_message() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? std::string() : std::string(message);
}

}  // namespace

std::string error_tail(const char* code, const char* text) {
  std::array<char, 32> stamp{};
  std::time_t now = std::time(nullptr);
  std::tm local{};
  std::strftime(stamp.data(), stamp.size(), "%Y-%m-%d-%H:%M:%S", localtime_r(&now, &local));
  int32_t device = -1;
  if (aclrtGetDevice(&device) != ACL_SUCCESS) {
    device = -1;
    recent_message();  // that this thread has no device yet is not the caller's error
  }
  const char* rank = std::getenv("RANK");
  return c10::str("\n[ERROR] ", stamp.data(), " (PID:", getpid(), ", Device:", device,
                  ", RankID:", rank == nullptr ? "-1" : rank, ") ", code, " ", text);
}

void acl_check(aclError code, const char* call, std::source_location where) {
  if (C10_LIKELY(code == ACL_SUCCESS)) return;
  std::string message = recent_message();
  if (message.empty()) message = c10::str(call, " failed with error ", code);
  c10::SourceLocation location{where.function_name(), where.file_name(), where.line()};
  throw c10::Error(location, message + error_tail("ERR00100", "PTA call acl api failed"));
}

void acl_warn(aclError code, const char* call) noexcept {
  if (code == ACL_SUCCESS) return;
  try {
    TORCH_WARN(call, " failed: ", recent_message());
  } catch (...) {
    // A warning turned into an error by the user must not end the process here.
  }
}

void* softnpu_symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

}  // namespace torch_npu
