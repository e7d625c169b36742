#pragma once

#include <chrono>
#include <thread>

namespace softnpu {

// Looks whether `done()` holds for about as long as putting a thread to sleep and waking it takes; whether it does. The
// processor is offered to others meanwhile.
template <typename Done>
bool spin_until(Done done) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kLongest{20};
  if (done()) return true;
  const auto end = Clock::now() + kLongest;
  do {
    std::this_thread::yield();
    if (done()) return true;
  } while (Clock::now() < end);
  return false;
}

}  // namespace softnpu
