#pragma once
// The route of each operator of a thread, for torch_npu.utils.explain. Without a counting thread, an operator only
// costs the branch for traces (core/trace.h).

#include <cstdint>
#include <string>
#include <vector>

namespace torch_npu::route_stats {

// In ascending priority, if an operator used several of them.
enum class Route : uint8_t { kNone, kCopy, kAclnn, kAiCpu, kCpuFallback, kGenerated, kHccl };

struct Row {
  std::string op;      // "aten::add.Tensor"
  std::string kernel;  // the aclnn or Hccl function, if any
  Route route = Route::kNone;
  bool calls_others = false;  // a composite, if `route` is kNone
  uint64_t calls = 0;
  int64_t total_ns = 0;  // on the host, including inner calls
  int64_t self_ns = 0;   // without inner calls
};

// Counts the calling thread's operators until stop(); throws if it is counting already.
void start();

// One row per operator, route and kernel, in the order of their first calls. Empty if nothing was counted.
std::vector<Row> stop();

// Records the route of this thread's innermost operator; `kernel` is a literal.
void mark(Route route, const char* kernel = "") noexcept;

// Counts a launch of a kernel that torch.compile generated.
void add_generated(const char* kernel);

// Whether this thread counts.
bool counts() noexcept;

}  // namespace torch_npu::route_stats
