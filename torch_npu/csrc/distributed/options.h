#pragma once
// What a process group of HCCL can be told: by the program, and by the environment.

#include <hccl/hccl_types.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>

namespace torch_npu {

using HcclConfigEntry = std::variant<int64_t, std::string>;

// torch_npu._C._distributed_c10d.ProcessGroupHCCL.Options.
struct HcclOptions : c10d::Backend::Options {
  explicit HcclOptions(bool is_high_priority_stream = false)
      : Options("hccl"), is_high_priority_stream(is_high_priority_stream) {}

  // How long an operation may take that names no time-out of its own: op_timeout, where it is set, else the group's.
  std::chrono::milliseconds operation_timeout() const { return op_timeout.value_or(timeout); }

  std::optional<std::chrono::milliseconds> op_timeout;
  bool is_high_priority_stream;
  std::unordered_map<std::string, HcclConfigEntry> hccl_config;
  std::string group_id;
};

// The configuration of communicators that `options` asks for. Throws for an unknown key or a value of another type.
HcclCommConfig comm_config(const HcclOptions& options);

// What happens when a collective fails or is overdue. TORCH_HCCL_ASYNC_ERROR_HANDLING: 0 leaves it to waits of the
// host, 1 to 3 abort the group's communicators, so that every wait for its work raises.
enum class ErrorHandling { kNone, kAbort };

struct HcclSettings {
  ErrorHandling error_handling;
  bool blocking_wait;  // TORCH_HCCL_BLOCKING_WAIT: Work.wait() blocks the host
  bool high_priority;  // TORCH_HCCL_HIGH_PRIORITY
};

// Reads the environment; throws for a value that is not understood.
HcclSettings read_hccl_settings();

}  // namespace torch_npu
