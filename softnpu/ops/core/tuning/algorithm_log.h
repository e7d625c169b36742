#pragma once
// Which algorithm served which work, and why those before it did not; written while someone asks for it.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace softnpu {

// Both are literals.
struct RefusedAlgorithm {
  const char* name = nullptr;
  const char* why = nullptr;
};

struct ServedWork {
  std::string work;
  const char* algorithm = nullptr;  // a literal
  uint64_t uses = 0;                // plans
  std::vector<RefusedAlgorithm> refused;
};

class AlgorithmLog {
 public:
  static AlgorithmLog& get();
  static bool is_on() { return readers_.load(std::memory_order_relaxed) > 0; }

  // Begins with an empty log if nobody reads it yet.
  void start();
  void stop();
  void add(const std::string& work, const char* algorithm, std::span<const RefusedAlgorithm> refused);
  // In the order of their first uses.
  std::vector<ServedWork> all() const;

 private:
  template <typename T>
  friend class NoDestroy;
  AlgorithmLog() = default;

  static inline std::atomic<int> readers_{0};
  mutable std::mutex mutex_;  // guards the members below
  std::vector<ServedWork> served_;
  std::map<std::string, size_t, std::less<>> places_;  // of work and algorithm in served_
};

}  // namespace softnpu
