#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "base/checked.h"
#include "base/inline_function.h"
#include "base/small_vector.h"
#include "base/status.h"
#include "nnopbase/producer.h"
#include "nnopbase/replay.h"
#include "nnopbase/sweep.h"

namespace softnpu {

// Says what an operator is called with: "(float32[2, 3], float32[3, 4])".
using Describe = InlineFunction<std::string(), 64>;

// Bytes of device memory.
struct DeviceBytes {
  const void* address = nullptr;
  size_t bytes = 0;
};

// Of `Plan::work`, in what is about a floating-point operation on data that is at hand; reading or writing an element
// that is not counts for 8. Below kSmallWork one thread is done, within tens of microseconds, about when two would be.
// Below kShortWork it is over, with all threads, before handing it to the executor would have paid (softnpuCost).
constexpr double kSmallWork = 1 << 22;
constexpr double kShortWork = 1 << 28;

// What phase one decides about one call. Captures of the sizes below need no heap.
struct Plan {
  Checked workspace_bytes = {};                           // phase one refuses a plan whose bytes do not fit
  double work = std::numeric_limits<double>::infinity();  // what it costs; 0: next to nothing
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
  // The same work, where the sweeps behind it may go over its result elsewhere.
  std::shared_ptr<const Producer> producer = nullptr;
  // For work that depends on its tensors' descriptions and places alone.
  MakeReplay replay = nullptr;

  bool is_small() const { return work < kSmallWork; }
};

// The write clock (softnpuWriteClock) at the launch of what the calling thread runs, before the launch marked what it
// writes.
ACL_FUNC_VISIBILITY uint64_t launch_clock();

}  // namespace softnpu
