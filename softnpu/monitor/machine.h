#pragma once
// The software NPUs of this machine with the processes of this user on them.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "monitor/pages.h"
#include "monitor/soc.h"

namespace softnpu::monitor {

struct ProcessLoad {
  pid_t pid = 0;
  std::string name;
  uint64_t used = 0;  // bytes
  int busy = 0;       // percent
};

struct DeviceLoad {
  int id = 0;          // physical; npu and chip follow from it
  uint64_t total = 0;  // bytes
  uint64_t used = 0;   // bytes, by all processes
  int busy = 0;        // percent
  std::vector<ProcessLoad> processes;
};

struct Machine {
  Soc soc{""};
  int cores = 1;
  std::vector<DeviceLoad> devices;

  int npu_of(const DeviceLoad& device) const { return device.id / soc.chips_of_npu(); }
  int chip_of(const DeviceLoad& device) const { return device.id % soc.chips_of_npu(); }
};

// Bytes as npu-smi counts them, in whole MB.
inline uint64_t megabytes(uint64_t bytes) { return (bytes + (1U << 20) - 1) >> 20; }

// Reads the pages twice: the load is that of the time between. Not thread-safe.
class Observer {
 public:
  // The load is that since an earlier call, at least `window` ago. The first call, and one that comes more than two
  // seconds after another, waits for `window`.
  // Fails if a variable of softnpu is malformed (SOFTNPU_DEVICE_COUNT).
  Status observe(std::chrono::milliseconds window, Machine* out);

 private:
  struct Sample {
    std::chrono::steady_clock::time_point at;
    std::vector<ProcessPage> pages;
  };
  static Sample sample();

  std::optional<Sample> before_;
  std::optional<Sample> newest_;
};

}  // namespace softnpu::monitor
