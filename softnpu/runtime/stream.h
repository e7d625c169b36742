#pragma once
// A strict FIFO of tasks. Small work runs at once on the caller's thread when the stream is idle; most other
// work goes to the device's executor. A task that waits parks its stream and occupies no thread.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/inline_function.h"
#include "base/status.h"
#include "runtime/core_limits.h"
#include "runtime/event.h"
#include "runtime/inline_gate.h"
#include "runtime/time_limits.h"
#include "softnpu/launch.h"

namespace softnpu {

class Executor;

// Where work on an idle stream runs: small, on the caller's thread; short, there as well, unless the executor ran
// something of late; large, on the executor.
enum class Cost { kSmall, kShort, kLarge };

// What a stream is created with.
struct StreamConfig {
  static constexpr uint32_t kPriorities = 8;
  uint32_t priority = 0;  // 0, the most urgent, to 7
  uint32_t flags = 0;
  const void* context = nullptr;  // that it was made in; may be gone
};

// Whether a wait ended with it before the work did.
inline bool is_unfinished(aclError code) {
  return code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT || code == ACL_ERROR_RT_AICORE_TIMEOUT ||
         code == ACL_ERROR_RT_WAIT_TIMEOUT;
}

using Work = InlineFunction<Status(), 64>;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // A host that submits work further ahead than this waits: it bounds the memory that queued work pins.
  static constexpr size_t kMaxQueued = 1024;
  // The most tasks of a fusion group.
  static constexpr size_t kMaxGroup = 16;

  // Borrows `executor`, which must outlive it.
  Stream(Executor* executor, int32_t device, uint32_t id, StreamConfig config)
      : executor_(executor), device_(device), id_(id), config_(config) {}

  int32_t device() const { return device_; }
  uint32_t id() const { return id_; }
  uint32_t priority() const { return config_.priority; }
  const void* context() const { return config_.context; }

  // Enqueues `work`. Its failure is kept with `name` (a literal) and with who launched it; the next synchronize()
  // returns it. `fusible` is null, or lives as long as `work`.
  Status submit(const char* name, Cost cost, Work work, softnpuFusible* fusible = nullptr);
  Status record(std::shared_ptr<Event> event);
  Status wait(std::shared_ptr<Event> event);

  // Runs `start` in its turn and goes on when `done` is complete, which `start` sees to.
  Status gate(const char* name, Work start, std::shared_ptr<Event> done);

  // No task from now on reads what [address, address + bytes) holds, be it of this stream or another.
  void output_dead(const void* address, size_t bytes);

  CoreLimits& core_limits() { return core_limits_; }
  // A number of the program's own for the stream, and whether overflow is to be watched; kept, nothing reads them yet.
  std::atomic<uint32_t>& tag() { return tag_; }
  std::atomic<uint32_t>& overflow_switch() { return overflow_switch_; }

  bool idle() const { return gate_.idle(); }

  // Waits until all that was enqueued before is done, then returns and forgets the first error. Negative: for ever.
  // Fails earlier where what it waits for is overdue: the work goes on then, and the next wait may fail again.
  Status synchronize(std::chrono::milliseconds timeout);

  // Waits like synchronize(), and leaves the error; false where `end` comes first, which may be max().
  bool drained(std::chrono::steady_clock::time_point end);

  // Drops what has not started. Used when a stream is destroyed by force and when the process ends. Where `reason` is
  // an error and something was dropped the next synchronize() returns it.
  void abandon(const Status& reason = Status::ok());

  // After a failed task nothing runs until synchronize() has returned its error.
  void stop_on_failure(bool stop) { stop_on_failure_.store(stop, std::memory_order_relaxed); }

  // Keeps the first error of a task until synchronize().
  void keep_error(const char* name, const Status& status) noexcept;

  // Runs the next task and passes the stream back to the executor while there are more. Executor thread only.
  void advance();

  // Makes a parked stream ready again, where it is this wait that it is parked for.
  static void wake(const Waiter& waiter);
  static bool waits(const Waiter& waiter);

  // An error where the running task was left to itself for its time, or the stream waits for longer than allowed.
  Status own_overdue(const TimeLimits& limits) const;
  // The event and the generation that the stream is parked on; null where it is not.
  std::pair<std::shared_ptr<Event>, uint64_t> parked_on() const;

 private:
  enum class Kind { kWork, kRecord, kWait };
  struct Task {
    Kind kind = Kind::kWork;
    const char* name = "";
    Work work;  // of a wait: what runs before it
    softnpuFusible* fusible = nullptr;
    std::shared_ptr<Event> event;
    uint64_t generation = 0;
    uint64_t number = 0;
    uint32_t thread = 0;  // that launched it
  };

  // Lets the caller's thread run a task inline; leave_inline() follows where it is true.
  bool enter_inline();
  void leave_inline();

  // Whether all that was submitted when this was called is done, as a predicate for changed_. mutex_ is held, here and
  // there.
  auto all_so_far();

  // Waits for `reached`; fails where `end` comes first, or where what it waits for is overdue. `lock` is of mutex_.
  template <typename Reached>
  Status wait_until(std::unique_lock<std::mutex>* lock, std::chrono::steady_clock::time_point end,
                    const Reached& reached);

  // Where it fails nothing was enqueued.
  Status enqueue(Task task, Cost cost);
  bool may_run_inline(Cost cost) const;
  void execute(Task& task);
  // Runs `first` fused with tasks behind it. False where none of these may be fused with it. Executor thread only.
  bool run_group(Task& first);
  // False where the work failed, or was left out because an earlier one did.
  bool run(Task& task);
  void finish(size_t tasks);
  // Parks until the task's event is complete; false where it already is.
  bool park(Task& task);
  void drop(Task& task);
  void keep_error(const Task& task, aclError code, const char* message) noexcept;
  bool skips() const;

  friend class StreamList;
  std::shared_ptr<Stream> next_;  // in the list that this stream waits in

  Executor* executor_;
  const int32_t device_;
  const uint32_t id_;
  const StreamConfig config_;
  CoreLimits core_limits_;
  std::atomic<uint32_t> tag_{0};
  std::atomic<uint32_t> overflow_switch_{0};
  std::atomic<bool> stop_on_failure_{false};

  InlineGate gate_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Task> queue_;
  // The executor reads the first tasks of queue_ without mutex_: they stay until it is done, which analysed_ tells.
  bool is_analysing_ = false;
  std::condition_variable analysed_;
  bool owned_ = false;          // some thread runs, or the executor holds, or an event parks this stream
  std::optional<Task> parked_;  // the wait that the stream has reached and not passed
  std::chrono::steady_clock::time_point parked_at_;
  uint64_t ticket_ = 0;  // of that wait, while nobody has woken it; else 0
  // What runs on the executor, or ran last: a literal, and the task's number.
  const char* running_name_ = "";
  uint64_t running_number_ = 0;
  uint64_t tickets_ = 0;
  uint64_t awaited_leaves_ = 0;         // of the gate, so far
  std::atomic<uint64_t> submitted_{0};  // to the queue; read by the thread inside the gate, too
  uint64_t abandoned_ = 0;              // tasks below this number do not park any more
  uint64_t done_ = 0;
  Status error_;
};

}  // namespace softnpu
