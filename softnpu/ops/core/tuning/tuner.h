#pragma once
// The process's choices between implementations: one per operator, shape and number of threads.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ops/core/tuning/choice.h"

namespace softnpu {

// What an implementation's time depends on.
class TuningKey {
 public:
  // `op` is a literal. Includes the calling thread's limit of threads.
  explicit TuningKey(const char* op);
  template <typename... Numbers>
  void add(Numbers... numbers) {
    (put(static_cast<int64_t>(numbers)), ...);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void put(int64_t number) { bytes_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  std::string bytes_;
};

class Tuner {
 public:
  using Duration = std::chrono::steady_clock::duration;

  static Tuner& get();

  // Whether the calling thread's next operator, of `work` (Plan::work), may be timed: not if it is small, while its
  // context asks for deterministic operators, and where SOFTNPU_TUNE=0.
  static bool is_on(double work);

  // Null if there is no choice for `key` yet.
  std::shared_ptr<Choice> find(const TuningKey& key) const;
  // The choice for `key`, opened if there is none. Null if there are too many.
  std::shared_ptr<Choice> open(const TuningKey& key, const std::function<std::string()>& describe,
                               std::vector<std::string> names);
  // In the order in which they were opened.
  std::vector<std::shared_ptr<const Choice>> all() const;

  // Whether more time may be spent. A program whose shapes never repeat would time for ever.
  bool may_spend() const;
  void spend(Duration duration) { spent_.fetch_add(duration.count(), std::memory_order_relaxed); }

  // For tests: each run of a candidate of that name begins with a sleep.
  void delay(const std::string& name, std::chrono::microseconds duration);
  void sleep_if_delayed(const std::string& name) const;

 private:
  template <typename T>
  friend class NoDestroy;
  Tuner() = default;

  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::atomic<Duration::rep> spent_{0};
  mutable std::mutex mutex_;  // guards choices_, in_order_ and delays_
  std::map<std::string, std::shared_ptr<Choice>, std::less<>> choices_;
  std::vector<std::shared_ptr<const Choice>> in_order_;
  std::map<std::string, std::chrono::microseconds> delays_;
  std::atomic<bool> has_delays_{false};  // read without the lock
};

}  // namespace softnpu
