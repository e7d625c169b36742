#include "runtime/event.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "runtime/process.h"
#include "runtime/stream.h"

namespace softnpu {
namespace {

constexpr std::chrono::microseconds kPause{50};  // between two looks at another process's event

int64_t nanoseconds(Event::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

uint64_t Event::begin_record() {
  if (mark_) return mark_->begin_record();
  std::lock_guard lock(mutex_);
  open_.push_back(recorded_ + 1);
  return ++recorded_;
}

void Event::reset() {
  if (mark_) return void(mark_->begin_record());
  std::lock_guard lock(mutex_);
  ++recorded_;
}

void Event::complete(uint64_t generation) {
  if (mark_) {
    mark_->complete(generation, nanoseconds(Clock::now()));
    return;  // the poller sees it, here and elsewhere
  }
  std::vector<Waiter> parked;
  {
    std::lock_guard lock(mutex_);
    completed_ = std::max(completed_, generation);
    std::erase(open_, generation);
    if (generation == recorded_) time_ = Clock::now();
    parked.swap(parked_);
  }
  completed_cv_.notify_all();
  // A stream that waits for a later generation parks itself again.
  for (auto& waiter : parked) Stream::wake(waiter);
}

uint64_t Event::newest() const {
  if (mark_) return mark_->recorded();
  std::lock_guard lock(mutex_);
  return recorded_;
}

bool Event::is_complete(uint64_t generation) const {
  if (mark_) return mark_->completed() >= generation;
  std::lock_guard lock(mutex_);
  return is_complete_locked(generation);
}

// A later record may be reached first, on another stream.
bool Event::is_complete_locked(uint64_t generation) const {
  return completed_ >= generation && !std::ranges::binary_search(open_, generation);
}

bool Event::park(uint64_t generation, Waiter waiter) {
  if (mark_) {
    if (mark_->completed() >= generation) return false;
    Process::get().poller().watch([mark = mark_, generation, waiter = std::move(waiter)] {
      if (mark->completed() < generation && Stream::waits(waiter)) return false;
      Stream::wake(waiter);
      return true;
    });
    return true;
  }
  std::lock_guard lock(mutex_);
  if (is_complete_locked(generation)) return false;
  parked_.push_back(std::move(waiter));
  return true;
}

bool Event::wait(std::chrono::milliseconds timeout) {
  if (mark_) {
    const uint64_t generation = mark_->recorded();
    const auto end = Clock::now() + timeout;
    while (mark_->completed() < generation) {
      if (timeout.count() >= 0 && Clock::now() >= end) return false;
      std::this_thread::sleep_for(kPause);
    }
    return true;
  }
  std::unique_lock lock(mutex_);
  uint64_t generation = recorded_;
  auto done = [&] { return is_complete_locked(generation); };
  if (timeout.count() < 0) {
    completed_cv_.wait(lock, done);
    return true;
  }
  return completed_cv_.wait_for(lock, timeout, done);
}

std::optional<Event::Clock::time_point> Event::completed_at() const {
  if (mark_) {
    const uint64_t recorded = mark_->recorded();
    if (recorded == 0 || mark_->completed() < recorded) return std::nullopt;
    return Clock::time_point(std::chrono::nanoseconds(mark_->completed_at()));
  }
  std::lock_guard lock(mutex_);
  if (recorded_ == 0 || !is_complete_locked(recorded_)) return std::nullopt;
  return time_;
}

}  // namespace softnpu
