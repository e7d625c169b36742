#include "ops/core/tuning/algorithm_log.h"

#include "base/border.h"
#include "base/no_destroy.h"
#include "softnpu/tuning.h"

namespace softnpu {
namespace {

// Shapes beyond this many are not written down.
constexpr size_t kMaxWorks = 4096;

}  // namespace

AlgorithmLog& AlgorithmLog::get() {
  static NoDestroy<AlgorithmLog> log;
  return log.get();
}

void AlgorithmLog::start() {
  std::lock_guard lock(mutex_);
  if (readers_.fetch_add(1, std::memory_order_relaxed) > 0) return;
  served_.clear();
  places_.clear();
}

void AlgorithmLog::stop() {
  std::lock_guard lock(mutex_);
  if (is_on()) readers_.fetch_sub(1, std::memory_order_relaxed);
}

void AlgorithmLog::add(const std::string& work, const char* algorithm, std::span<const RefusedAlgorithm> refused) {
  std::lock_guard lock(mutex_);
  const auto [location, is_new] = places_.try_emplace(work + '\0' + algorithm, served_.size());
  if (is_new && served_.size() == kMaxWorks) {
    places_.erase(location);
    return;
  }
  if (is_new) served_.push_back({work, algorithm, 0, {refused.begin(), refused.end()}});
  ++served_[location->second].uses;
}

std::vector<ServedWork> AlgorithmLog::all() const {
  std::lock_guard lock(mutex_);
  return served_;
}

}  // namespace softnpu

void softnpuLogAlgorithms(int32_t on) {
  softnpu::guarded([&] {
    auto& log = softnpu::AlgorithmLog::get();
    on != 0 ? log.start() : log.stop();
  });
}

void softnpuVisitServed(void (*visit)(const softnpuServedWork*, void*), void* argument) {
  softnpu::guarded([&] {
    for (const softnpu::ServedWork& one : softnpu::AlgorithmLog::get().all()) {
      std::vector<softnpuRefusedAlgorithm> refused;
      refused.reserve(one.refused.size());
      for (const auto& [name, why] : one.refused) refused.push_back({name, why});
      const softnpuServedWork work{one.work.c_str(), one.algorithm, one.uses, refused.size(), refused.data()};
      visit(&work, argument);
    }
  });
}
