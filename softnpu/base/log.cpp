#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <string>

#include "base/log_file.h"
#include "base/text.h"
#include "softnpu/environment.h"

namespace softnpu {
namespace {

constexpr int kNone = 4;
constexpr std::array<const char*, kNone> kNames = {"DEBUG", "INFO", "WARNING", "ERROR"};
constexpr size_t kFileBytes = size_t{8} << 20;

// Wrong values are errors of the runtime's configuration.
struct Settings {
  bool to_stdout = *environment::flag("ASCEND_SLOG_PRINT_TO_STDOUT").value;
  int level = static_cast<int>(*environment::integer("ASCEND_GLOBAL_LOG_LEVEL").value);
  std::string levels = environment::text("SOFTNPU_LOG_LEVELS");
  std::unique_ptr<LogFile> file;

  Settings() {
    if (const std::string folder = environment::text("ASCEND_PROCESS_LOG_PATH"); !folder.empty()) {
      file = std::make_unique<LogFile>(folder, kFileBytes);
    }
  }
};

const Settings& settings() {
  static const Settings& instance = *std::make_unique<Settings>().release();  // used until the end of the process
  return instance;
}

std::string time_of_day() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  localtime_r(&now.tv_sec, &parts);
  std::array<char, 40> text{};
  const size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(text.data() + size, text.size() - size, ".%06ld", now.tv_nsec / 1000);
  return text.data();
}

void write_to_file(LogFile& file, const std::string& line) {
  if (file.write(line)) return;
  static const bool told = [&] {
    std::fprintf(stderr, "softnpu: no log in %s (ASCEND_PROCESS_LOG_PATH): %s\n", file.path().c_str(),
                 std::strerror(errno));
    return true;
  }();
  static_cast<void>(told);
}

}  // namespace

int module_level(std::string_view levels, std::string_view module, int other) noexcept {
  while (!levels.empty()) {
    const std::string_view part = levels.substr(0, levels.find(','));
    levels.remove_prefix(std::min(part.size() + 1, levels.size()));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos || part.substr(0, equals) != module) continue;
    const std::string_view number = part.substr(equals + 1);
    int level = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), level);
    const bool is_whole = error == std::errc() && end == number.data() + number.size();
    return is_whole && level >= 0 && level <= kNone ? level : other;
  }
  return other;
}

bool log_enabled(aclLogLevel level, std::string_view module) noexcept {
  try {
    const Settings& all = settings();
    const int number = static_cast<int>(level);
    if (number < 0 || number >= kNone || (!all.to_stdout && all.file == nullptr)) return false;
    return number >= module_level(all.levels, module, all.level);
  } catch (const std::bad_alloc&) {  // the settings are read when there is memory
    return false;
  }
}

void log(aclLogLevel level, std::string_view module, std::string_view text) {
  if (!log_enabled(level, module)) return;
  const std::string start = softnpu::text("[", kNames[static_cast<size_t>(level)], "] softnpu(", getpid(), ")");
  if (settings().to_stdout) {
    std::printf("%s: %.*s\n", start.c_str(), static_cast<int>(text.size()), text.data());
    std::fflush(stdout);
  }
  if (settings().file == nullptr) return;
  write_to_file(*settings().file, softnpu::text(time_of_day(), " ", start, " ", module, ": ", text, "\n"));
}

}  // namespace softnpu
