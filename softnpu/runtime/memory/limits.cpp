#include "runtime/memory/limits.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <vector>

namespace softnpu {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

bool has(const std::string& list, const std::string& word) {
  const std::vector<std::string> words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A control group hierarchy: of some controllers, or in version 2 of all.
struct Hierarchy {
  std::string controllers;  // empty: version 2
  std::string path;         // the process's group in /proc/self/cgroup, or the mounted one
};

bool is_of(const Hierarchy& hierarchy, const std::string& controller) {
  return hierarchy.controllers.empty() || has(hierarchy.controllers, controller);
}

// Parses lines such as "4:memory:/docker/1" and "0::/user.slice".
std::vector<Hierarchy> groups_of(const std::string& root) {
  std::vector<Hierarchy> groups;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    groups.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return groups;
}

struct Mount {
  std::string controllers;  // empty: version 2
  std::string group;        // the mounted group: "/" or, in a container, its own group
  std::string point;
};

// Parses lines such as "35 24 0:30 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory".
std::vector<Mount> mounts_of(const std::string& root) {
  std::vector<Mount> mounts;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> before = split(line.substr(0, dash), ' ');
    const std::vector<std::string> after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    if (after[0] == "cgroup2") mounts.push_back({"", before[3], before[4]});
    if (after[0] == "cgroup") mounts.push_back({after[2], before[3], before[4]});
  }
  return mounts;
}

// The folders with files of `controller` for the process's group and its ancestors, the process's own first.
std::vector<fs::path> folders_of(const std::string& root, const std::string& controller) {
  std::vector<fs::path> folders;
  const std::vector<Mount> mounts = mounts_of(root);
  for (const Hierarchy& group : groups_of(root)) {
    if (!is_of(group, controller)) continue;
    const bool is_first_version = !group.controllers.empty();
    for (const Mount& mount : mounts) {
      if (mount.controllers.empty() == is_first_version) continue;
      if (is_first_version && !has(mount.controllers, controller)) continue;
      const fs::path top = root + mount.point;
      // A group outside of the mounted subtree appears as the mount's own group.
      fs::path below = fs::path(group.path).lexically_relative(mount.group);
      if (below.empty() || *below.begin() == ".." || *below.begin() == ".") below.clear();
      for (fs::path at = below; !at.empty(); at = at.parent_path()) folders.push_back(top / at);
      folders.push_back(top);
    }
  }
  return folders;
}

// The numbers in a file's first line; words ("max") become nullopt.
std::vector<std::optional<long long>> numbers_of(const fs::path& file) {
  std::vector<std::optional<long long>> numbers;
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  for (const std::string& word : split(line, ' ')) {
    long long value = 0;
    if (std::istringstream(word) >> value) {
      numbers.emplace_back(value);
    } else {
      numbers.emplace_back(std::nullopt);
    }
  }
  return numbers;
}

std::optional<long long> number_of(const fs::path& file) {
  const auto numbers = numbers_of(file);
  return numbers.empty() ? std::nullopt : numbers[0];
}

size_t cores_of(std::optional<long long> quota, std::optional<long long> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return kNoLimit;
  return static_cast<size_t>(*quota / *period + (*quota % *period != 0 ? 1 : 0));
}

}  // namespace

size_t cgroup_memory(const std::string& root) {
  size_t least = kNoLimit;
  for (const fs::path& folder : folders_of(root, "memory")) {
    for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
      const std::optional<long long> limit = number_of(folder / name);
      if (limit && *limit > 0) least = std::min(least, static_cast<size_t>(*limit));
    }
  }
  return least;
}

size_t cgroup_cores(const std::string& root) {
  size_t least = kNoLimit;
  for (const fs::path& folder : folders_of(root, "cpu")) {
    const auto both = numbers_of(folder / "cpu.max");
    if (both.size() == 2) least = std::min(least, cores_of(both[0], both[1]));
    least = std::min(least, cores_of(number_of(folder / "cpu.cfs_quota_us"), number_of(folder / "cpu.cfs_period_us")));
  }
  return least;
}

size_t usable_memory() {
  const size_t physical = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  return std::min(physical, cgroup_memory(""));
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
  return static_cast<int>(std::min(static_cast<size_t>(allowed), cgroup_cores("")));
}

size_t usable_addresses() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  const size_t mapped =
      static_cast<size_t>(number_of("/proc/self/statm").value_or(0)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  return limit.rlim_cur > mapped ? static_cast<size_t>(limit.rlim_cur) - mapped : 0;
}

}  // namespace softnpu
