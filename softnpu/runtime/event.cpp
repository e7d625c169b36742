#include "runtime/event.h"

#include <algorithm>
#include <utility>

#include "runtime/stream.h"

namespace softnpu {

uint64_t Event::begin_record() {
  std::lock_guard lock(mutex_);
  open_.push_back(recorded_ + 1);
  return ++recorded_;
}

void Event::complete(uint64_t generation) {
  std::vector<std::shared_ptr<Stream>> parked;
  {
    std::lock_guard lock(mutex_);
    completed_ = std::max(completed_, generation);
    std::erase(open_, generation);
    if (generation == recorded_) time_ = Clock::now();
    parked.swap(parked_);
  }
  completed_cv_.notify_all();
  // A stream that waits for a later generation parks itself again.
  for (auto& stream : parked) Stream::wake(std::move(stream));
}

uint64_t Event::newest() const {
  std::lock_guard lock(mutex_);
  return recorded_;
}

bool Event::is_complete(uint64_t generation) const {
  std::lock_guard lock(mutex_);
  return is_complete_locked(generation);
}

// A later record may be reached first, on another stream.
bool Event::is_complete_locked(uint64_t generation) const {
  return completed_ >= generation && !std::ranges::binary_search(open_, generation);
}

bool Event::park(uint64_t generation, std::shared_ptr<Stream> stream) {
  std::lock_guard lock(mutex_);
  if (is_complete_locked(generation)) return false;
  parked_.push_back(std::move(stream));
  return true;
}

bool Event::wait(std::chrono::milliseconds timeout) {
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
  std::lock_guard lock(mutex_);
  if (recorded_ == 0 || !is_complete_locked(recorded_)) return std::nullopt;
  return time_;
}

}  // namespace softnpu
