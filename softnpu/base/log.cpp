#include "base/log.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "softnpu/environment.h"

namespace softnpu {
namespace {

constexpr int kNone = 4;
constexpr std::array<const char*, kNone> kNames = {"DEBUG", "INFO", "WARNING", "ERROR"};

int threshold() {
  static const int value = [] {
    // Wrong values are errors of the runtime's configuration.
    if (!*environment::flag("ASCEND_SLOG_PRINT_TO_STDOUT").value) return kNone;
    return static_cast<int>(*environment::integer("ASCEND_GLOBAL_LOG_LEVEL").value);
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
