#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/inline_function.h"
#include "base/small_vector.h"
#include "base/status.h"
#include "nnopbase/sweep.h"

namespace softnpu {

// Says what an operator is called with: "(float32[2, 3], float32[3, 4])".
using Describe = InlineFunction<std::string(), 64>;

// Bytes of device memory.
struct DeviceBytes {
  const void* address = nullptr;
  size_t bytes = 0;
};

// What phase one decides about one call. Captures of the sizes below need no heap.
struct Plan {
  uint64_t workspace_bytes = 0;
  bool is_small = false;  // serial and done within a few microseconds
  // Does the work. `workspace` is where a kernel on the host may write it. Any thread, once a launch; launches of a
  // repeatable executor on two streams may overlap.
  InlineFunction<Status(void* workspace), 256> run;
  // For the message of a failed run. May be empty.
  Describe describe = nullptr;
  // The same work, where it may go together with the work behind it; it cannot fail then.
  std::shared_ptr<const Sweep> sweep = nullptr;
  // What it writes; a launch marks it.
  SmallVector<DeviceBytes, 2> written = {};
  // Asks a planner for a sweep of small work, too, where it has one: the work becomes part of larger.
  bool wants_sweep = false;
};

// The write clock (softnpuWriteClock) at the launch of what the calling thread runs, before the launch marked what it
// writes.
ACL_FUNC_VISIBILITY uint64_t launch_clock();

}  // namespace softnpu
