#include "base/log.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace softnpu {
namespace {

constexpr int kNone = 4;
constexpr std::array<const char*, kNone> kNames = {"DEBUG", "INFO", "WARNING", "ERROR"};

int threshold() {
  static const int value = [] {
    const char* to_stdout = std::getenv("ASCEND_SLOG_PRINT_TO_STDOUT");
    if (to_stdout == nullptr || std::string_view(to_stdout) != "1") return kNone;
    const char* level = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
    return level == nullptr || *level == '\0' ? static_cast<int>(ACL_ERROR) : std::atoi(level);
  }();
  return value;
}

}  // namespace

bool log_enabled(aclLogLevel level) noexcept {
  const int number = static_cast<int>(level);
  return number >= threshold() && number >= 0 && number < kNone;
}

void log(aclLogLevel level, std::string_view text) {
  if (!log_enabled(level)) return;
  const char* name = kNames[static_cast<size_t>(level)];
  std::printf("[%s] softnpu(%d): %.*s\n", name, getpid(), static_cast<int>(text.size()), text.data());
  std::fflush(stdout);
}

}  // namespace softnpu
