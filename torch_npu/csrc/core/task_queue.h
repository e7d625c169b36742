#pragma once
// Launches made by a separate thread, in order: the program's thread continues after an operator's first phase.
// TASK_QUEUE_ENABLE sets the level: 0, the caller launches; 1, the queue launches; 2, as 1, and operators share their
// stream's workspace.
//
// All other accesses to a stream (copies, events, waits, exposed handles) drain the queue first, so that the runtime
// sees one order.

#include <aclnn/aclnn_base.h>
#include <c10/core/Stream.h>

#include <atomic>
#include <cstdint>

namespace torch_npu {

using SecondPhase = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

// The second phase of one operator.
struct LaunchTask {
  const char* name;
  SecondPhase phase;
  uint64_t workspace_bytes;
  aclOpExecutor* executor;
  c10::Stream stream;
  void* workspace;
};

// Launches on the calling thread. Throws with the library's message if that fails.
void launch_now(const LaunchTask& task);

// 0, 1 or 2: TASK_QUEUE_ENABLE, or the last set level. The default is 0, which measured best.
inline int task_queue_level() noexcept;
// Launches everything queued first; no thread may launch meanwhile. Throws for an invalid level. While
// ASCEND_LAUNCH_BLOCKING is on, or kernels are checked, the level stays 0.
void set_task_queue_level(int64_t level);

// Queues the launch. Waits while the queue is full; throws the failure of an earlier one.
void queue_launch(const LaunchTask& task);

// The workspace that launches on `stream` share, at least `bytes` large.
void* stream_workspace(c10::Stream stream, uint64_t bytes);

namespace detail {
extern std::atomic<int> queue_level;
void drain(c10::DeviceIndex device) noexcept;
void throw_failure(c10::DeviceIndex device);
}  // namespace detail

inline int task_queue_level() noexcept { return detail::queue_level.load(std::memory_order_relaxed); }

// Returns after every queued launch of `device` was made. One load without a queue.
inline void drain_launches(c10::DeviceIndex device) noexcept {
  if (C10_UNLIKELY(task_queue_level() != 0)) detail::drain(device);
}

// The same; throws, once, the first failure of a queued launch.
inline void check_launches(c10::DeviceIndex device) {
  if (C10_LIKELY(task_queue_level() == 0)) return;
  detail::drain(device);
  detail::throw_failure(device);
}

}  // namespace torch_npu
