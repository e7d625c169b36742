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

// Describes the arguments of a call: "(float32[2, 3], float32[3, 4])".
using Describe = InlineFunction<std::string(), 64>;

// A range of device memory.
struct DeviceBytes {
  const void* address = nullptr;
  size_t bytes = 0;
};

// The result of phase one for one call. Captures of up to the sizes below need no heap.
struct Plan {
  Checked workspace_bytes = {};                           // phase one rejects a plan whose size does not fit
  double work = std::numeric_limits<double>::infinity();  // cost in the units of base/work.h; 0: negligible
  // Does the work. `workspace` is its address for host kernels. Called once per launch, on any thread; launches of a
  // repeatable executor on two streams may overlap.
  InlineFunction<Status(void* workspace), 256> run;
  // For the error message of a failed run. May be empty.
  Describe describe = nullptr;
  // The same work in fusible form: it may run fused with the tasks after it. A loop must not fail then.
  std::shared_ptr<const Fusible> fusible = nullptr;
  // The written ranges; a launch raises their write epochs.
  SmallVector<DeviceBytes, 2> written = {};
  // Set if the work depends only on its tensors' descriptions and addresses.
  MakeCachedLaunch cached_launch = nullptr;

  bool is_small() const { return work < kSmallWork; }
};

// The write epoch (softnpuWriteEpoch) at the launch of the task that the calling thread runs, taken before the launch
// raised the epochs of its outputs.
ACL_FUNC_VISIBILITY uint64_t launch_epoch();

}  // namespace softnpu
