#pragma once
// What the environment says, read once per process. Reading it initialises nothing.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace softnpu {

enum class InlineMode { kAuto, kNever, kAlways };
enum class CpuCapability { kDefault, kAvx2, kAvx512 };

struct Config {
  // The devices that the process sees, by their own numbers: SOFTNPU_DEVICE_COUNT of them, or those of
  // ASCEND_RT_VISIBLE_DEVICES.
  std::vector<int> devices = {0};
  int device_count() const { return static_cast<int>(devices.size()); }
  int cores = 1;                               // SOFTNPU_CORES: host threads that play one device's cores
  size_t hbm_bytes = 0;                        // SOFTNPU_HBM: capacity of each device
  InlineMode inline_mode = InlineMode::kAuto;  // SOFTNPU_INLINE
  bool protect = false;                        // SOFTNPU_PROTECT
  bool launch_blocking = false;                // ASCEND_LAUNCH_BLOCKING
  bool fuse = true;                            // SOFTNPU_FUSE: consecutive tasks of a stream may be fused
  bool pack = true;                            // SOFTNPU_PACK: packed copies of weights are kept
  std::optional<bool> split;                   // SOFTNPU_SPLIT: HF32 as products of bfloat16; unset: as the CPU has it
  // SOFTNPU_CPU_CAPABILITY: the instructions that kernels may use at most; by default all that the machine has.
  CpuCapability cpu_capability = CpuCapability::kDefault;
  std::string soc_name = "Ascend910B1";  // SOFTNPU_SOC
};

// Reads variables through `get` (getenv's signature); an error names the variable and what it takes.
Status parse_config(const char* (*get)(const char*), Config* out);

// The process's configuration. Where a variable is malformed the default stands and config_status() says so.
const Config& config();
const Status& config_status();

}  // namespace softnpu
