#pragma once
// Write epochs of what a kernel may write: it gets addresses, and writes anywhere in the memory that they lead to.

#include <cstddef>

#include "runtime/process.h"

namespace softnpu {

// Raises the epochs of each allocation that a word of a kernel's arguments is an address in.
void bump_pointed_to(const Process& process, const void* arguments, size_t bytes);

// If memory that an argument points to begins with addresses of device memory, raises all epochs of their devices. To
// be called when the memory has what the kernel will read there.
void bump_reachable(Process& process, const void* arguments, size_t bytes);

}  // namespace softnpu
