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

  // The generation that a record enqueued now will complete. Called under the lock of the stream that it goes to.
  uint64_t begin_record();

  // Called by the stream when it reaches the mark: wakes host waiters and the streams parked on this event.
  void complete(uint64_t generation);

  // From now on the event counts as not recorded: who waits waits for the next record.
  void reset();

  uint64_t newest() const;
  bool is_complete(uint64_t generation) const;

  // Parks `waiter` until `generation` is complete; false where it already is.
  bool park(uint64_t generation, Waiter waiter);

  // Waits for the newest generation; false on time-out. A negative time-out waits for ever.
  bool wait(std::chrono::milliseconds timeout);

  // When the newest generation completed; nothing where it has not, or where the event was never recorded.
  std::optional<Clock::time_point> completed_at() const;

  // Waits that streams have not passed yet.
  void add_wait() { waits_.fetch_add(1, std::memory_order_relaxed); }
  void end_wait() { waits_.fetch_sub(1, std::memory_order_release); }
  bool has_waits() const { return waits_.load(std::memory_order_acquire) > 0; }

  const std::shared_ptr<SharedMark>& mark() const { return mark_; }

 private:
  bool is_complete_locked(uint64_t generation) const;

  const std::shared_ptr<SharedMark> mark_;
  std::atomic<int64_t> waits_{0};
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable completed_cv_;
  uint64_t recorded_ = 0;
  uint64_t completed_ = 0;
  std::vector<uint64_t> open_;  // the records that no stream has reached yet, in order
  Clock::time_point time_;
  std::vector<Waiter> parked_;
};

}  // namespace softnpu
