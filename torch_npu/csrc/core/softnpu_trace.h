#pragma once
// Records of softnpu's tasks, for trace.h. On another CANN there are none.

#include <c10/core/Stream.h>

#include <cstdint>
#include <memory>
#include <unordered_map>

struct softnpuTrace;

namespace torch_npu::trace {

class SoftnpuTrace {
 public:
  struct Run {
    int64_t start_ns;  // of the host's wall clock
    int64_t end_ns;
  };
  using Runs = std::unordered_map<uint64_t, Run>;  // by task

  // Null where softnpu is not bound, or has no memory left.
  static std::unique_ptr<SoftnpuTrace> start();
  SoftnpuTrace(const SoftnpuTrace&) = delete;
  SoftnpuTrace& operator=(const SoftnpuTrace&) = delete;
  ~SoftnpuTrace();

  // Ends it and waits for its tasks. The time of a fusion group is divided among its tasks by the bytes that they
  // write.
  Runs stop();

  static bool is_available() noexcept;
  // The task that this thread launched last.
  static uint64_t recent_task() noexcept;
  // softnpu's clock; 0 without softnpu.
  static int64_t now() noexcept;
  // A kernel that the host ran from `begin` until now in place of the device; returns its task.
  static uint64_t report_host_kernel(const char* name, c10::Stream stream, int64_t begin) noexcept;

 private:
  explicit SoftnpuTrace(softnpuTrace* trace) : trace_(trace) {}
  softnpuTrace* trace_;
};

}  // namespace torch_npu::trace
