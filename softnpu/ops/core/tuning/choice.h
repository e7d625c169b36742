#pragma once
// The candidates for one shape, the time that each took, and the one that serves.

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace softnpu {

struct TimedCandidate {
  std::string name;
  double us = 0;  // the fastest run; 0: it was not timed
};

class Choice {
 public:
  // `work` describes the shape. The first candidate is the fixed rule's; where it is the only one, it is chosen.
  Choice(std::string work, std::vector<std::string> names);

  // The index of the candidate that serves; -1 while none is chosen. Never changes once it is not negative.
  int chosen() const { return chosen_.load(std::memory_order_acquire); }
  // Whether the candidates have these names, in this order.
  bool is_between(const std::vector<std::string>& names) const;
  const std::string& name(int candidate) const { return candidates_[static_cast<size_t>(candidate)].name; }

  // Returns the candidate that serves. If none is chosen yet: times the candidates by run(i), which computes the whole
  // result by candidate i. The last run is that of the chosen one, so that the result is its own: *is_computed is true
  // then. Threads that call it meanwhile wait. An exception of the first candidate's run is passed on, and nothing is
  // chosen.
  size_t decide(const std::function<void(size_t)>& run, bool* is_computed);

  void count_use() { uses_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t uses() const { return uses_.load(std::memory_order_relaxed); }
  const std::string& work() const { return work_; }
  // The times; of an open choice all are 0.
  std::vector<TimedCandidate> candidates() const;

 private:
  size_t time_all(const std::function<void(size_t)>& run);

  const std::string work_;
  std::atomic<uint64_t> uses_{0};
  std::atomic<int> chosen_{-1};             // published after candidates_
  std::mutex mutex_;                        // held while candidates are timed; guards candidates_ until chosen_ is set
  std::vector<TimedCandidate> candidates_;  // their number and names never change
};

}  // namespace softnpu
