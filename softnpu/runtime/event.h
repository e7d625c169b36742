#pragma once
// A mark in a stream. Each record makes a new generation; a wait names the generation that was newest when it was
// enqueued, so that recording again later does not move it.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/status.h"
#include "runtime/shared_mark.h"

namespace softnpu {

class Stream;

// A stream that waits, by the ticket of this one wait: a stream that went on for another reason ignores it.
struct Waiter {
  std::shared_ptr<Stream> stream;
  uint64_t ticket = 0;
};

class Event {
 public:
  using Clock = std::chrono::steady_clock;

  // With a `mark` the event's state lies in memory shared with other processes.
  explicit Event(std::shared_ptr<SharedMark> mark = nullptr) : mark_(std::move(mark)) {}

  // The generation that a record enqueued now on `recorder` will complete, called under that stream's lock; without
  // one the host completes it.
  uint64_t begin_record(const Stream* recorder = nullptr);
  // The stream that is still to reach that record, as a handle; null where it was reached, or is another process's.
  const Stream* recorder(uint64_t generation) const;

  // Called by the stream when it reaches the mark: wakes host waiters and the streams parked on this event.
  void complete(uint64_t generation);

  // From now on the event counts as not recorded: who waits waits for the next record.
  void reset();

  uint64_t newest() const;
  bool is_complete(uint64_t generation) const;

  // Parks `waiter` until `generation` is complete; false where it already is.
  bool park(uint64_t generation, Waiter waiter);

  // Waits for the newest generation, and fails where what it waits for is overdue.
  Status wait();

  // When the newest generation completed; nothing where it has not, or where the event was never recorded.
  std::optional<Clock::time_point> completed_at() const;

  // Waits that streams have not passed yet.
  void add_wait() { waits_.fetch_add(1, std::memory_order_relaxed); }
  void end_wait() { waits_.fetch_sub(1, std::memory_order_release); }
  bool has_waits() const { return waits_.load(std::memory_order_acquire) > 0; }

  const std::shared_ptr<SharedMark>& mark() const { return mark_; }

 private:
  bool is_complete_locked(uint64_t generation) const;
  // False where `generation` is not complete by then.
  bool wait_until(uint64_t generation, Clock::time_point end);

  const std::shared_ptr<SharedMark> mark_;
  std::atomic<int64_t> waits_{0};
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable completed_cv_;
  uint64_t recorded_ = 0;
  uint64_t completed_ = 0;
  struct Record {
    uint64_t generation = 0;
    const Stream* recorder = nullptr;
  };
  std::vector<Record> open_;  // those that no stream has reached yet, in order
  Clock::time_point time_;
  std::vector<Waiter> parked_;
};

}  // namespace softnpu
