#include "prof/profile.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>
#include <system_error>

#include "base/no_destroy.h"
#include "base/text.h"
#include "runtime/config.h"
#include "runtime/process.h"
#include "runtime/stream/trace.h"

namespace softnpu::prof {
namespace {

namespace fs = std::filesystem;

// How long the end of a profile waits for queued tasks.
constexpr std::chrono::seconds kTimeout{30};

constexpr uint64_t kTasks = ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0;

uint32_t wanted_by(uint64_t data) {
  uint32_t wanted = 0;
  if ((data & kTasks) != 0) wanted |= SOFTNPU_TRACE_TASKS;
  if ((data & ACL_PROF_TASK_TIME) != 0) wanted |= SOFTNPU_TRACE_DETAILS;
  if ((data & (ACL_PROF_ACL_API | ACL_PROF_RUNTIME_API)) != 0) wanted |= SOFTNPU_TRACE_CALLS;
  if ((data & ACL_PROF_TASK_MEMORY) != 0) wanted |= SOFTNPU_TRACE_MEMORY;
  if ((data & ACL_PROF_MSPROFTX) != 0) wanted |= SOFTNPU_TRACE_MARKS;
  return wanted;
}

// One moment by both clocks, the wall clock in whole microseconds.
struct Moment {
  int64_t wall_us = 0;
  int64_t raw_ns = 0;
};

Moment moment() {
  // The shortest of a few tries is the most exact.
  Moment best;
  int64_t shortest = INT64_MAX;
  for (int i = 0; i < 8; ++i) {
    const int64_t before = trace::now();
    timespec wall{};
    clock_gettime(CLOCK_REALTIME, &wall);
    const int64_t took = trace::now() - before;
    if (took >= shortest) continue;
    shortest = took;
    const int64_t wall_ns = int64_t{wall.tv_sec} * 1'000'000'000 + wall.tv_nsec;
    best = {wall_ns / 1000, before + took / 2 - wall_ns % 1000};
  }
  return best;
}

std::string moment_text(const char* wall_name, const Moment& now, const std::string& more) {
  return text("{\"", wall_name, "\": \"", now.wall_us, "\", \"clockMonotonicRaw\": \"", now.raw_ns, "\"", more, "}\n");
}

// "PROF_000001_20261127180102345_ABCDEFGHIJKLMNOPQR": the number, the local time in milliseconds, letters.
std::string folder_name() {
  static std::atomic<unsigned> next{1};
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 16> time{};
  std::strftime(time.data(), time.size(), "%Y%m%d%H%M%S", &local);
  std::array<char, 48> name{};
  std::snprintf(name.data(), name.size(), "PROF_%06u_%s%03d_", next.fetch_add(1) % 1000000, time.data(),
                static_cast<int>(ms));
  std::string result = name.data();
  std::random_device random;
  for (int i = 0; i < 18; ++i) result += static_cast<char>('A' + random() % 26);
  return result;
}

Status make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (!error) return Status::ok();
  return {ACL_ERROR_INVALID_FILE, text("the folder ", folder.string(), " cannot be made: ", error.message())};
}

std::string list_text(const std::vector<uint32_t>& numbers) {
  std::string result = "[";
  for (const uint32_t number : numbers) result += text(result.size() > 1 ? ", " : "", number);
  return result + "]";
}

std::string quoted(const std::string& value) {
  std::string result = "\"";
  for (const char letter : value) {
    if (letter == '"' || letter == '\\') result += '\\';
    result += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
  }
  return result + '"';
}

}  // namespace

Profile& Profile::get() {
  static NoDestroy<Profile> instance;
  return instance.get();
}

Status Profile::write(const char* file, const std::string& text_of) const {
  const fs::path path = folder_ / file;
  std::ofstream out(path, std::ios::trunc);
  out << text_of;
  out.close();
  if (out.good()) return Status::ok();
  return {ACL_ERROR_WRITE_FILE, text(path.string(), " cannot be written")};
}

Status Profile::check_inited() const {
  if (!folder_.empty()) return Status::ok();
  return {ACL_ERROR_PROF_NOT_RUN, "there is no profile: call aclprofInit with a folder first"};
}

Status Profile::init(const fs::path& folder) {
  std::lock_guard lock(mutex_);
  if (!folder_.empty()) {
    return {ACL_ERROR_PROF_ALREADY_RUN,
            text("a profile is collected in ", folder_.string(), ": call aclprofFinalize before another aclprofInit")};
  }
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return {ACL_ERROR_INVALID_FILE, text("the folder ", folder.string(), " does not exist")};
  }
  const fs::path created = fs::absolute(folder, error) / folder_name();
  SOFTNPU_RETURN_IF_ERROR(make_folder(created / "host" / "data"));
  folder_ = created;
  return Status::ok();
}

Status Profile::make_devices(const ProfileConfig& config) {
  for (const uint32_t device : config.devices) {
    SOFTNPU_RETURN_IF_ERROR(make_folder(folder_ / text("device_", device) / "data"));
  }
  return Status::ok();
}

Status Profile::warm_up(const ProfileConfig& config) {
  std::lock_guard lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(check_inited());
  return make_devices(config);
}

Status Profile::start(const ProfileConfig& config) {
  std::lock_guard lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(check_inited());
  if (file_ != nullptr) {
    return {ACL_ERROR_PROF_ALREADY_RUN,
            text("the profile in ", folder_.string(), " was started before: stop it first")};
  }
  std::error_code error;
  if (fs::exists(folder_ / "host" / "start_info", error)) {
    return {ACL_ERROR_PROF_ALREADY_RUN, text("the profile in ", folder_.string(),
                                             " has ended: call aclprofFinalize, then aclprofInit for another one")};
  }
  SOFTNPU_RETURN_IF_ERROR(make_devices(config));
  std::string settings;
  for (const auto& [type, value] : settings_) {
    settings += text(settings.empty() ? "" : ", ", '"', type, "\": ", quoted(value));
  }
  SOFTNPU_RETURN_IF_ERROR(write(
      "host/sample.json", text("{\"format\": 1, \"pid\": ", getpid(), ", \"devices\": ", list_text(config.devices),
                               ", \"metrics\": ", config.metrics, ", \"data\": ", config.data, ", \"soc\": ",
                               quoted(softnpu::config().soc_name), ", \"settings\": {", settings, "}}\n")));
  std::unique_ptr<RecordFile> file;
  SOFTNPU_RETURN_IF_ERROR(RecordFile::open(folder_ / "host" / "data", &file));
  SOFTNPU_RETURN_IF_ERROR(write("host/start_info", moment_text("collectionTimeBegin", moment(), "")));
  // A profile that the program does not stop ends with it.
  static const int registered = std::atexit([] { (void)Profile::get().finalize(); });
  (void)registered;
  Collector::get().add(file.get(), wanted_by(config.data));
  for (const uint32_t id : config.devices) {
    if (Device* device = Process::get().live_device(static_cast<int32_t>(id))) trace::report_heap(*device);
  }
  file_ = std::move(file);
  running_ = config;
  return Status::ok();
}

Status Profile::stop_now() {
  const uint64_t missing = Collector::get().remove(file_.get(), kTimeout);
  Status status = file_->status();
  const uint64_t records = file_->count();
  file_ = nullptr;
  Status written = write("host/end_info", moment_text("collectionTimeEnd", moment(),
                                                      text(", \"records\": ", records, ", \"missing\": ", missing,
                                                           ", \"lost\": ", Collector::get().lost())));
  return status.is_ok() ? written : status;
}

Status Profile::stop() {
  std::lock_guard lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(check_inited());
  if (file_ == nullptr) {
    return {ACL_ERROR_PROF_NOT_RUN, text("the profile in ", folder_.string(), " is not running: start it first")};
  }
  return stop_now();
}

Status Profile::finalize() {
  std::lock_guard lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(check_inited());
  const Status status = file_ != nullptr ? stop_now() : Status::ok();
  folder_.clear();
  settings_.clear();
  return status;
}

Status Profile::set(uint32_t type, const std::string& value) {
  if (type <= ACL_PROF_ARGS_MIN || type >= ACL_PROF_ARGS_MAX) {
    return {ACL_ERROR_INVALID_PROFILING_CONFIG,
            text("the setting ", type, " of a profile does not exist: there are 1 to ", ACL_PROF_ARGS_MAX - 1)};
  }
  std::lock_guard lock(mutex_);
  settings_[type] = value;
  return Status::ok();
}

aclprofConfig* Profile::add_config(ProfileConfig config) {
  auto owned = std::make_unique<ProfileConfig>(std::move(config));
  auto* handle = reinterpret_cast<aclprofConfig*>(owned.get());
  std::lock_guard lock(mutex_);
  configs_[handle] = std::move(owned);
  return handle;
}

Status Profile::find_config(const aclprofConfig* handle, ProfileConfig* out) const {
  std::lock_guard lock(mutex_);
  const auto found = configs_.find(handle);
  if (found == configs_.end()) {
    return {ACL_ERROR_INVALID_PARAM,
            text(static_cast<const void*>(handle), " is no live profile configuration: aclprofCreateConfig makes one")};
  }
  *out = *found->second;
  return Status::ok();
}

Status Profile::remove_config(const aclprofConfig* handle) {
  std::lock_guard lock(mutex_);
  if (configs_.erase(handle) == 1) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM,
          text(static_cast<const void*>(handle), " is no live profile configuration: it was destroyed, or never made")};
}

}  // namespace softnpu::prof
