#pragma once
// The thread that emulates a device's cores. It takes the most urgent ready stream (the first of equal ones) and runs
// one task of it.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"
#include "base/status_layout.h"
#include "base/ticks.h"
#include "runtime/stream/stream.h"
#include "runtime/stream/stream_list.h"

namespace softnpu {

class Executor {
 public:
  // Borrows `status`, which must outlive it, and keeps its times.
  explicit Executor(DeviceStatus* status) : status_(*status) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  // Starts the thread, once; before the first push().
  Status start();

  // Makes `stream`, which is not ready yet, ready. Does nothing after stop().
  void push(std::shared_ptr<Stream> stream) noexcept;

  // If the running task has run longer than `limit`, abandons its thread, which ends with the task, and starts a new
  // thread for the other streams. If no thread can be started, they keep waiting.
  void leave_overdue(std::chrono::nanoseconds limit);
  // Whether the running task of `stream` was abandoned as overdue.
  bool is_overdue(const Stream* stream) const;

  // Within a task on an executor's thread: the next operator of a captured graph begins, for which a limit counts anew.
  static void begin_operator();

  bool on_executor_thread() const;

  // True after stop(): tasks enqueued from then on run on the caller's thread.
  bool stopped() const;

  // Counts the time of a task that ran inline, in ticks (base/ticks.h).
  void add_inline(uint64_t count) noexcept;

  // Total time that tasks have run, on the thread or inline; tasks that ran at the same time count each.
  std::chrono::nanoseconds busy() const {
    return std::chrono::nanoseconds(status_.busy.load(std::memory_order_relaxed));
  }

  // Whether no task has run on the thread for some time, as when a program waits for each launch.
  bool idle_long_enough() const { return idle_long_enough_.load(std::memory_order_relaxed); }

  // Tasks that ran fused with the preceding one.
  uint64_t fused_tasks() const { return fused_tasks_.load(std::memory_order_relaxed); }
  void count_fused_tasks(size_t count) { fused_tasks_.fetch_add(count, std::memory_order_relaxed); }

  // Waits for the running task and joins the thread. Idempotent.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  // A thread whose task was abandoned as overdue.
  struct AbandonedThread {
    uint64_t generation = 0;
    std::thread thread;
    std::shared_ptr<Stream> stream;  // null after the task has ended
  };

  // The loop of thread `generation`: until stop(), or until its task was abandoned.
  void run(uint64_t generation);
  std::thread start_thread(uint64_t generation);
  // Waits for a ready stream, and sets idle_long_enough_ after a while; null after stop(). `lock` holds mutex_.
  std::shared_ptr<Stream> sleep(std::unique_lock<std::mutex>* lock);
  // The next ready stream; null if there is none. mutex_ is held.
  std::shared_ptr<Stream> pop() noexcept;

  DeviceStatus& status_;
  const TickRate rate_;
  std::atomic<uint64_t> inline_ticks_{0};     // not in status_.busy yet
  std::atomic<bool> idle_long_enough_{true};  // written by the thread
  std::atomic<uint64_t> fused_tasks_{0};
  std::atomic<uint64_t> pushes_{0};  // written under mutex_, read without
  mutable std::mutex mutex_;         // guards all members below
  std::condition_variable ready_cv_;
  std::array<StreamList, StreamConfig::kPriorities> ready_;  // by priority
  bool sleeping_ = false;                                    // the thread waits on ready_cv_
  bool stopping_ = false;
  std::thread thread_;
  uint64_t generation_ = 0;          // of thread_
  std::shared_ptr<Stream> running_;  // the stream whose task runs on thread_, and its start time
  Clock::time_point since_;
  std::vector<AbandonedThread> left_;
};

}  // namespace softnpu
