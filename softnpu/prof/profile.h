#pragma once
// The profile that a program collects with aclprofInit to aclprofFinalize: a folder PROF_*, which msprof reads.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "acl/acl_prof.h"
#include "base/status.h"
#include "prof/record_file.h"

namespace softnpu::prof {

struct ProfileConfig {
  std::vector<uint32_t> devices;
  uint32_t metrics = ACL_AICORE_NONE;  // an aclprofAicoreMetrics
  uint64_t data = 0;                   // bits ACL_PROF_*
};

class Profile {
 public:
  // The one of the process. Never destroyed.
  static Profile& get();

  // Makes a folder PROF_* in `folder`, which exists.
  Status init(const std::filesystem::path& folder);
  // Writes the folder's parts of the devices.
  Status warm_up(const ProfileConfig& config);
  Status start(const ProfileConfig& config);
  // Ends the recording after the tasks that it saw launched.
  Status stop();
  // Also stops it.
  Status finalize();

  // A setting beside the configuration; `type` is an aclprofConfigType.
  Status set(uint32_t type, const std::string& value);

  // The settings and handles of aclprofCreateConfig.
  aclprofConfig* add_config(ProfileConfig config);
  Status find_config(const aclprofConfig* handle, ProfileConfig* out) const;
  Status remove_config(const aclprofConfig* handle);

 private:
  // mutex_ is held.
  Status make_devices(const ProfileConfig& config);
  Status check_inited() const;
  Status stop_now();
  Status write(const char* file, const std::string& text) const;

  mutable std::mutex mutex_;          // guards all members below
  std::filesystem::path folder_;      // empty before init()
  std::unique_ptr<RecordFile> file_;  // while it records
  ProfileConfig running_;
  std::map<uint32_t, std::string> settings_;
  std::map<const aclprofConfig*, std::unique_ptr<ProfileConfig>> configs_;
};

}  // namespace softnpu::prof
