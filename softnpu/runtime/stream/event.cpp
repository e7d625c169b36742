#include "runtime/stream/event.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/text.h"
#include "base/wait.h"
#include "runtime/stream/poller.h"
#include "runtime/stream/stream.h"
#include "runtime/stream/time_limits.h"

namespace softnpu {
namespace {

constexpr std::chrono::microseconds kPause{50};  // between two polls of another process's event

int64_t nanoseconds(Event::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

bool has_ended(const PeerProcess* recorder) { return recorder != nullptr && !recorder->is_alive(); }

// Whether the generation is complete, or will never be.
bool is_over(const SharedMark& mark, uint64_t generation, const PeerProcess* recorder) {
  return mark.completed() >= generation || has_ended(recorder);
}

}  // namespace

uint64_t Event::begin_record(const Stream* recorder) {
  if (mark_) return mark_->begin_record();
  std::lock_guard lock(mutex_);
  open_.push_back({recorded_ + 1, recorder});
  captured_ = nullptr;
  is_captured_.store(false, std::memory_order_release);
  return ++recorded_;
}

bool Event::capture(std::shared_ptr<const CapturedPosition> position) {
  if (mark_) return false;
  std::lock_guard lock(mutex_);
  captured_ = std::move(position);
  is_captured_.store(true, std::memory_order_release);
  return true;
}

std::shared_ptr<const CapturedPosition> Event::captured() const {
  if (!is_captured_.load(std::memory_order_acquire)) return nullptr;
  std::lock_guard lock(mutex_);
  return captured_;
}

const Stream* Event::recorder(uint64_t generation) const {
  std::lock_guard lock(mutex_);
  const auto record = std::ranges::find(open_, generation, &Record::generation);
  return record == open_.end() ? nullptr : record->recorder;
}

void Event::reset() {
  if (mark_) return void(mark_->begin_record());
  std::lock_guard lock(mutex_);
  ++recorded_;
}

void Event::complete(uint64_t generation) {
  if (mark_) {
    mark_->complete(generation, nanoseconds(Clock::now()));
    return;  // the pollers of this and other processes see it
  }
  std::vector<Waiter> parked;
  {
    std::lock_guard lock(mutex_);
    completed_ = std::max(completed_, generation);
    std::erase_if(open_, [&](const Record& record) { return record.generation == generation; });
    if (generation == recorded_) time_ = Clock::now();
    parked.swap(parked_);
  }
  completed_cv_.notify_all();
  // A stream that waits for a later generation parks itself again.
  for (auto& waiter : parked) {
    if (waiter.next == nullptr) {
      Stream::wake(waiter);
    } else {
      waiter.next->complete(waiter.next->newest());
    }
  }
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

// A later record may complete first, on another stream.
bool Event::is_complete_locked(uint64_t generation) const {
  return completed_ >= generation && !std::ranges::binary_search(open_, generation, {}, &Record::generation);
}

bool Event::park(uint64_t generation, Waiter waiter) {
  if (mark_) {
    const std::shared_ptr<PeerProcess> recorder = mark_->recorder(generation);
    if (is_over(*mark_, generation, recorder.get())) return false;
    poller_->watch([mark = mark_, generation, recorder, waiter = std::move(waiter)] {
      if (!is_over(*mark, generation, recorder.get()) && Stream::waits(waiter)) return false;
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

Status Event::failure(uint64_t generation) const {
  if (!mark_ || mark_->completed() >= generation) return Status::ok();
  const std::unique_ptr<PeerProcess> recorder = mark_->recorder(generation);
  // It may have completed the record before it ended.
  if (!has_ended(recorder.get()) || mark_->completed() >= generation) return Status::ok();
  return {ACL_ERROR_RT_IPC_ERROR,
          text("process ", recorder->pid(), " recorded the event and ended before its stream ", "reached the record")};
}

Status Event::wait() {
  const uint64_t generation = newest();
  while (true) {
    const TimeLimits limits = time_limits();
    const bool is_limited = limits.any();
    if (wait_until(generation, is_limited ? Clock::now() + limits.pause() : kNever)) {
      return Status::ok();
    }
    SOFTNPU_RETURN_IF_ERROR(failure(generation));
    leave_overdue(limits);
    SOFTNPU_RETURN_IF_ERROR(overdue(*this, generation, limits));
  }
}

bool Event::wait_until(uint64_t generation, Clock::time_point end) {
  if (mark_) {
    const std::unique_ptr<PeerProcess> recorder = mark_->recorder(generation);
    while (!is_over(*mark_, generation, recorder.get())) {
      if (Clock::now() >= end) return false;
      std::this_thread::sleep_for(kPause);
    }
    return mark_->completed() >= generation;
  }
  std::unique_lock lock(mutex_);
  return softnpu::wait_until(completed_cv_, lock, end, [&] { return is_complete_locked(generation); });
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
