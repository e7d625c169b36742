#pragma once
// Checks addresses that callers pass: which memory they name, and whether a range is within one allocation.

#include <cstddef>

#include "base/status.h"
#include "runtime/process.h"

namespace softnpu {

struct Location {
  char* kernel = nullptr;  // the address at which host kernels may access it
  bool on_device = false;
};

// Resolves `address`. A device address must be in a live allocation with room for `count` bytes; other addresses are
// assumed to be host addresses. `role` names the argument in the error text.
Status resolve(const Process& process, const char* role, const void* address, size_t count, Location* out);

}  // namespace softnpu
