#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "base/checked.h"
#include "base/inline_function.h"
#include "base/small_vector.h"
#include "base/status.h"
#include "base/work.h"
#include "fusion/fusible.h"
#include "nnopbase/cached_launch.h"

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
  Checked workspace_bytes = {};                           // phase one refuses a plan whose bytes do not fit
  double work = std::numeric_limits<double>::infinity();  // what it costs; 0: next to nothing
  // Does the work. `workspace` is where a kernel on the host may write it. Any thread, once a launch; launches of a
  // repeatable executor on two streams may overlap.
  InlineFunction<Status(void* workspace), 256> run;
  // For the message of a failed run. May be empty.
  Describe describe = nullptr;
  // The same work, where it may run fused with the tasks behind it. A loop cannot fail then.
  std::shared_ptr<const Fusible> fusible = nullptr;
  // What it writes; a launch raises its write epochs.
  SmallVector<DeviceBytes, 2> written = {};
  // For work that depends on its tensors' descriptions and addresses alone.
  MakeCachedLaunch cached_launch = nullptr;

  bool is_small() const { return work < kSmallWork; }
};

// The write epoch (softnpuWriteEpoch) at the launch of what the calling thread runs, before the launch raised those of
// its outputs.
ACL_FUNC_VISIBILITY uint64_t launch_epoch();

}  // namespace softnpu
