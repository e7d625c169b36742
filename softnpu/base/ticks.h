#pragma once
// A counter that costs a few nanoseconds to read, and its conversion to nanoseconds.

#include <chrono>
#include <cstdint>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace softnpu {

inline uint64_t steady_ns() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

// Counts at a constant rate, the same on all cores.
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return steady_ns();
#endif
}

// Learns the counter's rate from its own age.
class TickRate {
 public:
  // 0 if the clock has not moved since the construction.
  uint64_t to_ns(uint64_t count) const {
    const uint64_t counted = ticks() - first_tick_;
    return counted == 0 ? 0
                        : static_cast<uint64_t>(static_cast<double>(count) / static_cast<double>(counted) *
                                                static_cast<double>(steady_ns() - first_ns_));
  }

 private:
  const uint64_t first_tick_ = ticks();
  const uint64_t first_ns_ = steady_ns();
};

}  // namespace softnpu
