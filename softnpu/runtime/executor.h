#pragma once
// The thread that plays a device's cores: it takes the most urgent ready stream, of equal ones the first, and runs one
// task of it.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"
#include "runtime/stream.h"
#include "runtime/stream_list.h"

namespace softnpu {

class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  // Starts the thread, once; before the first push().
  Status start();

  // Makes `stream`, which is not ready yet, ready. After stop() nothing runs any more.
  void push(std::shared_ptr<Stream> stream) noexcept;

  // Where the running task has run longer than `limit`: lets it end by itself, and starts a fresh thread for the other
  // streams; where that is not possible they go on waiting.
  void leave_overdue(std::chrono::nanoseconds limit);
  // Whether the running task of `stream` was left to itself.
  bool is_overdue(const Stream* stream) const;

  bool on_executor_thread() const;

  // True once stop() was called: what is enqueued from then on has to run where it is enqueued.
  bool stopped() const;

  // How long tasks have run on the thread altogether.
  std::chrono::nanoseconds busy() const { return std::chrono::nanoseconds(busy_.load(std::memory_order_relaxed)); }

  // Whether no task has run on the thread for some time: the program waits for what it launches one by one.
  bool idle_long_enough() const { return idle_long_enough_.load(std::memory_order_relaxed); }

  // Tasks that ran fused with the one before them.
  uint64_t fused_tasks() const { return fused_tasks_.load(std::memory_order_relaxed); }
  void count_fused_tasks(size_t count) { fused_tasks_.fetch_add(count, std::memory_order_relaxed); }

  // Lets the running task end and joins the thread. Idempotent.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  // A thread whose task was left to itself.
  struct Left {
    uint64_t generation = 0;
    std::thread thread;
    std::shared_ptr<Stream> stream;  // null where the task has ended
  };

  // What thread `generation` does: until stop(), or until its task was left to itself.
  void run(uint64_t generation);
  std::thread start_thread(uint64_t generation);
  // Waits for a ready stream, and sets idle_long_enough_ after a while; null where stop() was called. `lock` is of
  // mutex_.
  std::shared_ptr<Stream> sleep(std::unique_lock<std::mutex>* lock);
  // The next ready stream; null where there is none. mutex_ is held.
  std::shared_ptr<Stream> pop() noexcept;

  std::atomic<int64_t> busy_{0};              // in ns
  std::atomic<bool> idle_long_enough_{true};  // written by the thread
  std::atomic<uint64_t> fused_tasks_{0};
  std::atomic<uint64_t> pushes_{0};  // written under mutex_, watched without
  mutable std::mutex mutex_;         // guards all below
  std::condition_variable ready_cv_;
  std::array<StreamList, StreamConfig::kPriorities> ready_;  // by priority
  bool sleeping_ = false;                                    // the thread waits for ready_cv_
  bool stopping_ = false;
  std::thread thread_;
  uint64_t generation_ = 0;          // of thread_
  std::shared_ptr<Stream> running_;  // the stream whose task runs on thread_, and since when
  Clock::time_point since_;
  std::vector<Left> left_;
};

}  // namespace softnpu
