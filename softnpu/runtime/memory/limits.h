#pragma once
// How much of the machine the process may use, by its control groups and its own limits.

#include <cstddef>
#include <string>

namespace softnpu {

constexpr size_t kNoLimit = ~size_t{0};

// The lowest memory limit of the process's control group and its ancestors, versions 1 and 2, as far as they are
// mounted below `root`: "" in a process, in tests a folder with /proc/self and /sys/fs/cgroup.
size_t cgroup_memory(const std::string& root);
// The same for processor time, in cores: rounded up, at least 1. kNoLimit if there is none.
size_t cgroup_cores(const std::string& root);

// Bytes of physical memory that the process may use.
size_t usable_memory();
// Cores that the process may use: those of its affinity mask, limited by its control group.
int usable_cores();
// Bytes of address space that the process may still map (RLIMIT_AS); kNoLimit if there is no limit.
size_t usable_addresses();

}  // namespace softnpu
