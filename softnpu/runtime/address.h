#pragma once
// Addresses that callers give: which memory they name, and whether a range of it belongs to one allocation.

#include <cstddef>

#include "base/status.h"
#include "runtime/process.h"

namespace softnpu {

struct Location {
  char* kernel = nullptr;  // where the host's kernels may touch it
  bool on_device = false;
};

// Resolves `address`. A device address must lie in a live allocation with room for `count` bytes; other addresses are
// taken to be the host's. `role` names the argument in the error's text.
Status resolve(const Process& process, const char* role, const void* address, size_t count, Location* out);

}  // namespace softnpu
