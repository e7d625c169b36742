#pragma once
// Vector clocks of a core's pipes: what of the other pipes' work is known to be done.

#include <algorithm>
#include <array>
#include <cstdint>

#include "softnpu_kernel/instruction.h"

namespace softnpu::kernel::check {

struct Clock {
  std::array<uint32_t, kPipes> epochs{};

  uint32_t of(Pipe pipe) const { return epochs[static_cast<int>(pipe)]; }
  void join(const Clock& other) {
    for (int i = 0; i < kPipes; ++i) epochs[i] = std::max(epochs[i], other.epochs[i]);
  }
  void tick(Pipe pipe) { ++epochs[static_cast<int>(pipe)]; }
};

}  // namespace softnpu::kernel::check
