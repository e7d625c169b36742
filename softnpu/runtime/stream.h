#pragma once
// A strict FIFO of tasks. Small serial work runs at once on the caller's thread when the stream is idle; everything
// else goes to the device's executor. A task that waits for an event parks its stream and occupies no thread.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "base/status.h"
#include "runtime/event.h"

namespace softnpu {

class Executor;

enum class Cost { kSmall, kLarge };  // small: serial and done within a few microseconds

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // A host that submits work further ahead than this waits: it bounds the memory that queued work pins.
  static constexpr size_t kMaxQueued = 1024;

  // Borrows `executor`, which must outlive it.
  Stream(Executor* executor, int32_t device, uint32_t id) : executor_(executor), device_(device), id_(id) {}

  int32_t device() const { return device_; }
  uint32_t id() const { return id_; }

  // Enqueues `work`. Its failure is kept with `name` (a literal) and returned by the next synchronize().
  Status submit(const char* name, Cost cost, std::function<Status()> work);
  Status record(std::shared_ptr<Event> event);
  Status wait(std::shared_ptr<Event> event);

  bool idle() const { return pending_.load(std::memory_order_acquire) == 0; }

  // Waits until all that was enqueued before is done, then returns and forgets the first error. Negative: for ever.
  Status synchronize(std::chrono::milliseconds timeout);

  // Drops what has not started. Used when a stream is destroyed by force and when the process ends.
  void abandon();

  // Runs the next task and passes the stream back to the executor while there are more. Executor thread only.
  void advance();

  // Makes a parked stream ready again.
  static void wake(std::shared_ptr<Stream> stream);

 private:
  enum class Kind { kWork, kRecord, kWait };
  struct Task {
    Kind kind = Kind::kWork;
    const char* name = "";
    std::function<Status()> work;
    std::shared_ptr<Event> event;
    uint64_t generation = 0;
  };

  // Where it fails nothing was enqueued.
  Status enqueue(Task task, Cost cost);
  void execute(Task& task);
  void finish(size_t tasks);
  void keep_error(const char* name, aclError code, const char* message) noexcept;

  friend class StreamList;
  std::shared_ptr<Stream> next_;  // in the list that this stream waits in

  Executor* executor_;
  const int32_t device_;
  const uint32_t id_;

  std::atomic<size_t> pending_{0};  // queued and running; written under mutex_, read by idle() without
  mutable std::mutex mutex_;        // guards all below
  std::condition_variable changed_;
  std::deque<Task> queue_;
  bool owned_ = false;  // some thread runs, or the executor holds, or an event parks this stream
  uint64_t submitted_ = 0;
  uint64_t done_ = 0;
  Status error_;
};

}  // namespace softnpu
