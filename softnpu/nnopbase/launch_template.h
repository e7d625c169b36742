#pragma once
// What phase one makes of a call, and what one launch of it adds.

#include <cstdlib>
#include <memory>
#include <string>

#include "nnopbase/call_tensors.h"
#include "nnopbase/plan.h"

namespace softnpu {

// Immutable once it is launched: any number of launches may run it, also at once.
struct LaunchTemplate {
  const char* op;  // the C name without the phase, a literal
  Plan plan;
  std::shared_ptr<const CallTensors> tensors = nullptr;  // if anything watches launches
  // Shapes and types for profilers, as softnpuTraceDetail takes them. Null if nothing recorded them.
  std::shared_ptr<const std::string> operands = nullptr;
  // Planned with addresses that stand in for missing ones (nnopbase/missing_memory.h).
  bool lacks_memory = false;
};

struct FreeHostBlock {
  void operator()(void* block) const { std::free(block); }
};
using HostBlock = std::unique_ptr<void, FreeHostBlock>;

struct LaunchContext {
  void* workspace = nullptr;  // its address for host kernels
  int threads = 1;            // the number of threads that it may use
  HostBlock own_workspace;    // for plans launched without an executor
  softnpuOverflowMode overflow = SOFTNPU_OVERFLOW_IGNORED;
  int32_t dump = 0;  // what softnpuDumps() returned
  int32_t stream_id = 0;

  bool is_watched() const { return overflow != SOFTNPU_OVERFLOW_IGNORED || dump != 0; }
};

// Does the work; an exception is a status.
Status run(const LaunchTemplate& launched, const LaunchContext& context);

}  // namespace softnpu
