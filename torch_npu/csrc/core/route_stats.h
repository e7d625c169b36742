#pragma once
// Which way each operator of a thread went, for torch_npu.utils.explain. While nobody counts, an operator pays for the
// branch that traces take anyway (core/trace.h).

#include <cstdint>
#include <string>
#include <vector>

namespace torch_npu::route_stats {

// In the order of what counts where an operator did several of them.
enum class Route : uint8_t { kNone, kCopy, kAclnn, kAiCpu, kCpuFallback };

struct Row {
  std::string op;      // "aten::add.Tensor"
  std::string kernel;  // the aclnn function, where it is one
  Route route = Route::kNone;
  bool calls_others = false;  // a composite, where `route` is kNone
  uint64_t calls = 0;
  int64_t total_ns = 0;  // on the host, with what it called
  int64_t self_ns = 0;   // without
};

// Counts the calling thread's operators until stop(); throws where it counts already.
void start();

// One row for each operator, route and kernel, in the order of their first calls. Empty where nobody counted.
std::vector<Row> stop();

// The innermost operator of this thread goes this way; `kernel` is a literal.
void mark(Route route, const char* kernel = "") noexcept;

// Whether this thread counts.
bool counts() noexcept;

}  // namespace torch_npu::route_stats
