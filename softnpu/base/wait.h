#pragma once
// A wait with a deadline, which may be never.

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace softnpu {

constexpr auto kNever = std::chrono::steady_clock::time_point::max();

// Waits for `done`; false if `end` comes first. Accepts max(), with which std::condition_variable would overflow.
template <typename Done>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                std::chrono::steady_clock::time_point end, const Done& done) {
  if (end != kNever) return changed.wait_until(lock, end, done);
  changed.wait(lock, done);
  return true;
}

}  // namespace softnpu
