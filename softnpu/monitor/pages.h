#pragma once
// Reads the status pages of this user's processes on softnpu.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace softnpu::monitor {

// What one process says of one device.
struct DeviceUse {
  int device = 0;         // its number in the machine
  uint64_t capacity = 0;  // bytes
  uint64_t used = 0;      // bytes
  uint64_t busy_ns = 0;   // time that tasks have run until now, with the running one
};

struct ProcessPage {
  pid_t pid = 0;
  std::string name;  // without white space
  std::string soc;   // as SOFTNPU_SOC names it
  int installed = 0;
  int cores = 0;
  std::vector<DeviceUse> devices;  // those that it uses
};

// One page for each live process of this user, by pid. What is no valid page is skipped: another program may have
// written it.
std::vector<ProcessPage> read_pages();

}  // namespace softnpu::monitor
