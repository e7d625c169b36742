#pragma once
// Whether a device's floating-point results saturate, and whether one overflowed.

#include <atomic>

namespace softnpu {

class Overflow {
 public:
  // Whether any device or stream of the process ever watched: a hint.
  static bool is_watched() { return watched_.load(std::memory_order_relaxed); }
  static void watch() { watched_.store(true, std::memory_order_relaxed); }

  void set_saturating(bool saturates) {
    if (saturates) watch();
    saturates_.store(saturates, std::memory_order_relaxed);
  }
  bool is_saturating() const { return saturates_.load(std::memory_order_relaxed); }

  // The flag stays set until clear().
  void raise() { flag_.store(true, std::memory_order_relaxed); }
  void clear() { flag_.store(false, std::memory_order_relaxed); }
  bool is_raised() const { return flag_.load(std::memory_order_relaxed); }

 private:
  static inline std::atomic<bool> watched_{false};
  std::atomic<bool> saturates_{false};
  std::atomic<bool> flag_{false};
};

}  // namespace softnpu
