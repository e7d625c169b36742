#pragma once
// A recorded position in a stream. Each record has a new generation. A wait waits for the newest generation at its
// enqueue, so that a later record does not affect it.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/status.h"
#include "runtime/ipc/shared_mark.h"

namespace softnpu {

class Event;
class Poller;
class Stream;
struct CapturedPosition;

// A waiting stream, with the ticket of this wait: a stream that already continued ignores it. Or an event that is
// completed then, in place of a stream.
struct Waiter {
  std::shared_ptr<Stream> stream;
  uint64_t ticket = 0;
  std::shared_ptr<Event> next;
};

class Event {
 public:
  using Clock = std::chrono::steady_clock;

  Event() = default;
  // The event's state is in memory shared with other processes; `poller`, which outlives it, looks when it is waited
  // for.
  Event(std::shared_ptr<SharedMark> mark, Poller* poller) : mark_(std::move(mark)), poller_(poller) {}

  // The generation that a record enqueued now on `recorder` will complete; called under that stream's lock. Without a
  // recorder the host completes it.
  uint64_t begin_record(const Stream* recorder = nullptr);
  // The stream that has yet to reach that record, as a handle; null if it was reached or is another process's.
  const Stream* recorder(uint64_t generation) const;

  // A record in a capture: until the next record outside of one the event is not complete and nothing can wait for it
  // except streams of the capture. False for an event that is shared with other processes.
  bool capture(std::shared_ptr<const CapturedPosition> position);
  // Null if the newest record is no captured one.
  std::shared_ptr<const CapturedPosition> captured() const;

  // Called by the stream when it reaches the record: wakes host waiters and the streams parked on this event.
  void complete(uint64_t generation);

  // From now on the event counts as not recorded: waits are for the next record.
  void reset();

  uint64_t newest() const;
  bool is_complete(uint64_t generation) const;

  // Parks `waiter` until `generation` is complete or fails; false if it already is or has.
  bool park(uint64_t generation, Waiter waiter);

  // An error if `generation` is not complete and never will be: the process that recorded it has ended.
  Status failure(uint64_t generation) const;

  // Waits for the newest generation. Fails with failure(), or if the work that it waits for is overdue.
  Status wait();

  // When the newest generation completed; empty if it has not, or if the event was never recorded.
  std::optional<Clock::time_point> completed_at() const;

  // Counts enqueued waits that streams have not passed yet.
  void add_wait() { waits_.fetch_add(1, std::memory_order_relaxed); }
  void end_wait() { waits_.fetch_sub(1, std::memory_order_release); }
  bool has_waits() const { return waits_.load(std::memory_order_acquire) > 0; }

  const std::shared_ptr<SharedMark>& mark() const { return mark_; }

 private:
  bool is_complete_locked(uint64_t generation) const;
  // False if `generation` is not complete at `end`, or fails.
  bool wait_until(uint64_t generation, Clock::time_point end);

  const std::shared_ptr<SharedMark> mark_;  // null: within the process
  Poller* const poller_ = nullptr;
  std::atomic<int64_t> waits_{0};
  std::atomic<bool> is_captured_{false};  // captured_ is not null
  mutable std::mutex mutex_;              // guards all members below
  std::condition_variable completed_cv_;
  uint64_t recorded_ = 0;
  uint64_t completed_ = 0;
  struct Record {
    uint64_t generation = 0;
    const Stream* recorder = nullptr;
  };
  std::vector<Record> open_;  // records that no stream has reached yet, in order
  Clock::time_point time_;
  std::vector<Waiter> parked_;
  std::shared_ptr<const CapturedPosition> captured_;
};

}  // namespace softnpu
