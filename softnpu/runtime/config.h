#pragma once
// Settings from the environment, read once per process. Reading them initialises nothing.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace softnpu {

enum class InlineMode { kAuto, kNever, kAlways };
enum class SplitMode { kByCpu, kNever, kAlways, kTuned };
enum class CpuCapability { kDefault, kAvx2, kAvx512 };

struct Config {
  // The ids of the devices that the process sees: SOFTNPU_DEVICE_COUNT of them, or those in ASCEND_RT_VISIBLE_DEVICES.
  // By default there are as many as processes of its job on this host (torchrun's LOCAL_WORLD_SIZE), which share the
  // machine's memory and cores.
  std::vector<int> devices = {0};
  int device_count() const { return static_cast<int>(devices.size()); }
  int installed = 1;                           // SOFTNPU_DEVICE_COUNT: devices of the machine, visible or not
  int cores = 1;                               // SOFTNPU_CORES: host threads that emulate the cores of one device
  size_t hbm_bytes = 0;                        // SOFTNPU_HBM: capacity of each device
  InlineMode inline_mode = InlineMode::kAuto;  // SOFTNPU_INLINE
  bool protect = false;                        // SOFTNPU_PROTECT
  bool launch_blocking = false;                // ASCEND_LAUNCH_BLOCKING
  bool fuse = true;                            // SOFTNPU_FUSE: consecutive tasks of a stream may be fused
  bool pack = true;                            // SOFTNPU_PACK: packed weights are cached
  bool tune = true;                            // SOFTNPU_TUNE: implementations are timed, and the fastest serves
  SplitMode split = SplitMode::kByCpu;         // SOFTNPU_SPLIT: HF32 as bfloat16 products
  // SOFTNPU_CPU_CAPABILITY: the newest instruction set that kernels may use; by default all that the machine has.
  CpuCapability cpu_capability = CpuCapability::kDefault;
  std::string profile;   // SOFTNPU_PROFILE: a folder for a profile of the whole process; set by msprof --application
  std::string soc_name;  // SOFTNPU_SOC
};

// Reads variables through `get` (getenv's signature). An error names the variable and the values that it accepts.
Status parse_config(const char* (*get)(const char*), Config* out);

// The process's configuration. If a variable is malformed, its default is used and config_status() returns the error.
const Config& config();
const Status& config_status();

}  // namespace softnpu
