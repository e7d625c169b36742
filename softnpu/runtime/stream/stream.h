#pragma once
// A strict FIFO of tasks. On an idle stream small work runs immediately on the caller's thread; most other work runs on
// the device's executor. A task that waits parks its stream and occupies no thread.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/inline_function.h"
#include "base/status.h"
#include "runtime/stream/capture/capture.h"
#include "runtime/stream/core_limits.h"
#include "runtime/stream/cost.h"
#include "runtime/stream/event.h"
#include "runtime/stream/inline_gate.h"
#include "runtime/stream/steps.h"
#include "runtime/stream/time_limits.h"
#include "runtime/stream/trace.h"
#include "softnpu/launch.h"

namespace softnpu {

class Executor;

// The arguments of a new stream.
struct StreamConfig {
  static constexpr uint32_t kPriorities = 8;
  uint32_t priority = 0;  // from 0, the most urgent, to 7
  uint32_t flags = 0;
  const void* context = nullptr;  // in which it was made; may be destroyed
};

// Whether a wait ended before the work did.
inline bool is_unfinished(aclError code) {
  return code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT || code == ACL_ERROR_RT_AICORE_TIMEOUT ||
         code == ACL_ERROR_RT_WAIT_TIMEOUT;
}

using Work = InlineFunction<Status(), 64>;

// What a task has besides its work.
struct TaskTraits {
  const softnpuFusible* fusible = nullptr;  // lives as long as the work; null if it always runs alone
  uint64_t epoch = 0;                       // the write epoch at its launch
  std::span<const softnpuRange> written;    // what it writes; read during submit() only
};

// The number of the calling thread.
uint32_t this_thread();

// The write epoch at the launch of the task that the calling thread runs; 0 outside of tasks.
uint64_t launch_epoch();

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // Submitters wait while more tasks than this are queued: it bounds the memory that queued work pins.
  static constexpr size_t kMaxQueued = 1024;
  // The most tasks of a fusion group.
  static constexpr size_t kMaxGroup = 16;

  // Borrows `executor`, which must outlive it.
  Stream(Executor* executor, int32_t device, uint32_t id, StreamConfig config)
      : executor_(executor), device_(device), id_(id), config_(config) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  int32_t device() const { return device_; }
  uint32_t id() const { return id_; }
  uint32_t priority() const { return config_.priority; }
  const void* context() const { return config_.context; }

  // Enqueues `work`. If it fails, the error is kept with `name` (a literal) and the launching thread, and the next
  // synchronize() returns it.
  Status submit(const char* name, Cost cost, Work work, TaskTraits traits = {});
  Status record(std::shared_ptr<Event> event);
  Status wait(std::shared_ptr<Event> event);

  // Runs `start` in stream order, then waits until `done` is complete; `start` ensures that it completes.
  Status gate(const char* name, Work start, std::shared_ptr<Event> done);

  // Runs `steps` in stream order, parked between two of them. `epoch`: the write epoch at the launch.
  Status submit_steps(const char* name, std::shared_ptr<Steps> steps, uint64_t epoch = 0);
  // If the stream captures, appends what `make` makes at each replay; else nothing happens, and `make` stays.
  Status capture_steps(const char* name, StepsMaker&& make, std::span<const softnpuRange> written, bool* is_captured);

  // No task enqueued from now on, in any stream, reads [address, address + bytes).
  void output_dead(const void* address, size_t bytes);

  // The capture that the stream is part of; null if it runs its tasks. While it captures, submit(), record() and wait()
  // go to the capture, and whatever cannot be part of a graph fails and invalidates it.
  std::shared_ptr<Capture> capture() const;
  // Fails, and invalidates the capture, if the stream captures. `what` cannot be part of a graph, `instead` says what
  // to do.
  Status refuse_in_capture(const char* what, const char* instead) const;
  // False if it is part of another capture.
  bool join_capture(std::shared_ptr<Capture> capture);
  // If it is part of `capture`, runs its tasks from now on.
  void leave_capture(const Capture* capture);
  // The stream is being destroyed: its capture fails.
  void drop_capture();

  CoreLimits& core_limits() { return core_limits_; }
  // The program's own number for the stream, stored only; and whether to watch for overflow.
  std::atomic<uint32_t>& tag() { return tag_; }
  std::atomic<uint32_t>& overflow_switch() { return overflow_switch_; }

  bool idle() const { return gate_.idle(); }

  // Waits until all tasks enqueued before are done, then returns and clears the first error. Negative: no timeout.
  // Fails earlier if a task that it waits for is overdue: the work continues, and the next wait may fail again.
  Status synchronize(std::chrono::milliseconds timeout);

  // Waits like synchronize() and keeps the error. False if `end`, which may be max(), comes first.
  bool drained(std::chrono::steady_clock::time_point end);

  // Drops tasks that have not started. Used when a stream is destroyed by force and when the process ends. If `reason`
  // is an error and tasks were dropped, the next synchronize() returns it.
  void abandon(const Status& reason = Status::ok());

  // After a failed task no task runs until synchronize() has returned its error.
  void stop_on_failure(bool stop) { stop_on_failure_.store(stop, std::memory_order_relaxed); }

  // Keeps the first error of a task until synchronize().
  void keep_error(const char* name, const Status& status) noexcept;

  // Runs the next task and hands the stream back to the executor if there are more. Executor thread only.
  void advance();

  // Makes a parked stream ready again, if it is still parked for this wait.
  static void wake(const Waiter& waiter);
  static bool waits(const Waiter& waiter);

  // An error if the running task was abandoned as overdue, or if the stream waits for longer than allowed.
  Status own_overdue(const TimeLimits& limits) const;
  // The event and the generation that the stream is parked on; null if it is not parked.
  std::pair<std::shared_ptr<Event>, uint64_t> parked_on() const;

 private:
  enum class Kind { kWork, kRecord, kWait, kSteps };
  struct Task {
    Kind kind = Kind::kWork;
    const char* name = "";
    Work work;  // of a wait: runs before it
    TaskTraits traits;
    uint64_t output_dead_at = UINT64_MAX;  // tasks from this number on do not read its output
    std::shared_ptr<Steps> steps;
    std::shared_ptr<Event> event;
    uint64_t generation = 0;
    uint64_t number = 0;
    uint32_t thread = 0;  // the launching thread
    trace::Tag tag;
  };

  // Allows the caller's thread to run a task inline. If true, leave_inline() must follow.
  bool enter_inline();
  void leave_inline();

  // A predicate for changed_: whether all tasks submitted before this call are done. mutex_ is held, here and there.
  auto all_so_far();

  // Waits for `reached`. Fails if `end` comes first, or if a task that it waits for is overdue. `lock` holds mutex_.
  template <typename Reached>
  Status wait_until(std::unique_lock<std::mutex>* lock, std::chrono::steady_clock::time_point end,
                    const Reached& reached);

  // A wait in a capture, `own` if the stream is part of one, or for an event that was recorded in one, at `position`.
  Status wait_captured(const Event& event, const CapturedPosition* position, Capture* own);
  // If it fails, nothing was enqueued.
  Status enqueue(Task task, Cost cost);
  bool may_run_inline(Cost cost) const;
  void execute(Task& task);
  // Runs `first` fused with the tasks after it. False if none of them can be fused with it. Executor thread only.
  bool run_group(Task& first);
  // False if the work failed, or was skipped because an earlier task failed.
  bool run(Task& task);
  // The same, recorded as the task's run.
  bool run_recorded(Task& task);
  static softnpuTraceTask traced(const Task& task);
  trace::Location location() const { return {device_, id_}; }
  void finish(size_t tasks);
  // Runs steps until one has to wait: true if the stream is parked, false if the work is done or has failed.
  bool run_steps(Task& task, bool* is_ok);
  // Parks until the task's event is complete; false if it already is.
  bool park(Task& task);
  void drop(Task& task);
  void keep_error(const Task& task, aclError code, const char* message) noexcept;
  bool skips() const;

  friend class StreamList;
  std::shared_ptr<Stream> next_;  // in the StreamList that this stream is in

  // capture() or null after one load where nothing captures.
  std::shared_ptr<Capture> capture_if_any() const {
    return is_capturing_.load(std::memory_order_acquire) ? capture() : nullptr;
  }

  Executor* executor_;
  const int32_t device_;
  const uint32_t id_;
  const StreamConfig config_;
  CoreLimits core_limits_;
  std::atomic<uint32_t> tag_{0};
  std::atomic<uint32_t> overflow_switch_{0};
  std::atomic<bool> stop_on_failure_{false};
  std::atomic<bool> is_capturing_{false};

  InlineGate gate_;
  mutable std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::deque<Task> queue_;
  // While true, the executor reads the first tasks of queue_ without mutex_: they must stay. analysed_ signals its end.
  bool is_analysing_ = false;
  std::condition_variable analysed_;
  bool owned_ = false;          // the stream runs, is queued at the executor, or is parked on an event
  std::optional<Task> parked_;  // the wait that the stream has reached and not passed
  std::chrono::steady_clock::time_point parked_at_;
  int64_t began_at_ = 0;  // of the wait or the steps that run or are parked, if they are recorded
  uint64_t ticket_ = 0;   // of that wait until the stream is woken; else 0
  // The task that runs on the executor, or ran last: its name (a literal) and its number.
  const char* running_name_ = "";
  uint64_t running_number_ = 0;
  uint64_t tickets_ = 0;
  uint64_t awaited_leaves_ = 0;         // leaves of the gate that a thread waited for
  std::atomic<uint64_t> submitted_{0};  // to the queue; also read by the thread inside the gate
  uint64_t abandoned_ = 0;              // tasks below this number no longer park
  uint64_t done_ = 0;
  Status error_;
  std::shared_ptr<Capture> capture_;  // null unless is_capturing_
};

}  // namespace softnpu
