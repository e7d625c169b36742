#pragma once
// What the machine, the process's control groups and its own limits leave to it.

#include <cstddef>
#include <string>

namespace softnpu {

constexpr size_t kNoLimit = ~size_t{0};

// The least limit of memory of the process's control group and of those above it, of version 1 and 2, as far as they
// are mounted below `root`: "" in a process, a folder with /proc/self and /sys/fs/cgroup in tests.
size_t cgroup_memory(const std::string& root);
// The same of processor time, in cores: rounded up, at least 1. kNoLimit where there is none.
size_t cgroup_cores(const std::string& root);

// Bytes of physical memory that the process may use.
size_t usable_memory();
// Cores that it may use: those of its affinity, at most what its control group grants.
int usable_cores();
// Bytes of addresses that it may still map (RLIMIT_AS); kNoLimit where there is no limit.
size_t usable_addresses();

}  // namespace softnpu
