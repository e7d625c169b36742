#pragma once
// Busy waiting for a bounded time.

#include <chrono>
#include <thread>

namespace softnpu {

// Polls `done()` for up to `longest` (default: about the time of putting a thread to sleep and waking it) and returns
// its last result. Yields the processor between polls.
template <typename Done>
bool spin_until(Done done, std::chrono::microseconds longest = std::chrono::microseconds(20)) {
  using Clock = std::chrono::steady_clock;
  if (done()) return true;
  const auto end = Clock::now() + longest;
  do {
    std::this_thread::yield();
    if (done()) return true;
  } while (Clock::now() < end);
  return false;
}

// The same for work that other threads are finishing: does not yield the processor.
template <typename Done>
bool watch_until(Done done, std::chrono::microseconds longest) {
  using Clock = std::chrono::steady_clock;
  constexpr int kLooksPerClock = 16;
  const auto end = Clock::now() + longest;
  do {
    for (int i = 0; i < kLooksPerClock; ++i) {
      if (done()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (Clock::now() < end);
  return false;
}

}  // namespace softnpu
