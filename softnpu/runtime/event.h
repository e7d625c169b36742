#pragma once
// A mark in a stream. Each record makes a new generation; a wait names the generation that was newest when it was
// enqueued, so that recording again later does not move it.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace softnpu {

class Stream;

class Event {
 public:
  using Clock = std::chrono::steady_clock;

  // The generation that a record enqueued now will complete. Called under the lock of the stream that it goes to.
  uint64_t begin_record();

  // Called by the stream when it reaches the mark: wakes host waiters and the streams parked on this event.
  void complete(uint64_t generation);

  uint64_t newest() const;
  bool is_complete(uint64_t generation) const;

  // Parks `stream` until `generation` is complete; false where it already is.
  bool park(uint64_t generation, std::shared_ptr<Stream> stream);

  // Waits for the newest generation; false on time-out. A negative time-out waits for ever.
  bool wait(std::chrono::milliseconds timeout);

  // When the newest generation completed; nothing where it has not, or where the event was never recorded.
  std::optional<Clock::time_point> completed_at() const;

 private:
  bool is_complete_locked(uint64_t generation) const;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable completed_cv_;
  uint64_t recorded_ = 0;
  uint64_t completed_ = 0;
  std::vector<uint64_t> open_;  // the records that no stream has reached yet, in order
  Clock::time_point time_;
  std::vector<std::shared_ptr<Stream>> parked_;
};

}  // namespace softnpu
