#pragma once
// Launches that a thread of their own makes, in order: the program's thread goes on after an operator's first phase.
// TASK_QUEUE_ENABLE chooses the level: 0, launches are made by the caller; 1, by the queue; 2, the same, and an
// operator's workspace is its stream's, kept for the next one.
//
// Everything else that touches a stream (copies, events, waits, handles that are given away) drains the queue first, so
// that the runtime sees one order.

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

// Makes the launch on the calling thread. Throws what the library says where it fails.
void launch_now(const LaunchTask& task);

// 0, 1 or 2: TASK_QUEUE_ENABLE, or what was set since. Where neither is there it is 0, which measured best.
inline int task_queue_level() noexcept;
// Makes what is queued first; nobody may launch meanwhile. Throws for a level that does not exist. While
// ASCEND_LAUNCH_BLOCKING is on the level stays 0.
void set_task_queue_level(int64_t level);

// Queues the launch. Waits while the queue is full; throws the failure of an earlier one.
void queue_launch(const LaunchTask& task);

// The workspace that launches on `stream` share, of `bytes` at least.
void* stream_workspace(c10::Stream stream, uint64_t bytes);

namespace detail {
extern std::atomic<int> queue_level;
void drain(c10::DeviceIndex device) noexcept;
void throw_failure(c10::DeviceIndex device);
}  // namespace detail

inline int task_queue_level() noexcept { return detail::queue_level.load(std::memory_order_relaxed); }

// Returns when every queued launch of `device` was made. A load where there is no queue.
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
