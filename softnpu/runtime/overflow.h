#pragma once
// Whether a device's floating-point results saturate, and whether one overflowed.

#include <atomic>

namespace softnpu {

class Overflow {
 public:
  // Whether anything in the process watches launches: phase one then keeps the tensors of its calls.
  static bool is_watched() { return watchers_.load(std::memory_order_relaxed) != 0; }
  static void add_watcher() { watchers_.fetch_add(1, std::memory_order_relaxed); }
  static void remove_watcher() { watchers_.fetch_sub(1, std::memory_order_relaxed); }

  void set_saturating(bool saturates) {
    if (saturates_.exchange(saturates, std::memory_order_relaxed) == saturates) return;
    saturates ? add_watcher() : remove_watcher();
  }
  bool is_saturating() const { return saturates_.load(std::memory_order_relaxed); }

  // The flag stays set until clear().
  void raise() { flag_.store(true, std::memory_order_relaxed); }
  void clear() { flag_.store(false, std::memory_order_relaxed); }
  bool is_raised() const { return flag_.load(std::memory_order_relaxed); }

 private:
  static inline std::atomic<int> watchers_{0};
  std::atomic<bool> saturates_{false};
  std::atomic<bool> flag_{false};
};

}  // namespace softnpu
