#pragma once
// HCCL's environment variables, read at each communicator's start.

#include <chrono>

#include "base/status.h"

namespace softnpu::ccl {

struct Settings {
  using Seconds = std::chrono::seconds;
  static constexpr Seconds kForever = Seconds::max();

  Seconds connect{};  // HCCL_CONNECT_TIMEOUT: until all ranks have connected
  Seconds execute{};  // HCCL_EXEC_TIMEOUT: until all ranks have made a call; 0 is kForever
};

// Fails with the variable's name and the values that it takes.
Status read_settings(Settings* out);

}  // namespace softnpu::ccl
