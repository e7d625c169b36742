#pragma once
// Copies that add to, or compare with, what is there.

#include <cstdint>

#include "softnpu_kernel/core.h"

namespace softnpu::kernel {

// Combines the elements of `bytes` bytes at `from` with those at `to`, each at once for other threads that do so, too.
void combine(const AtomicMode& mode, uint8_t* to, const uint8_t* from, uint64_t bytes);

}  // namespace softnpu::kernel
