#include "ops/core/tuning/tuner.h"

#include <thread>
#include <utility>

#include "base/no_destroy.h"
#include "base/threads.h"
#include "softnpu/tuning.h"

namespace softnpu {
namespace {

// Below it (less than a millisecond on one core) a wrong choice costs less than a fair comparison.
constexpr double kMinWork = 1 << 24;
// How long a process may time candidates in any case, and the part of its time beyond that.
constexpr std::chrono::seconds kFreeTime{30};
constexpr int kTimePerTuning = 8;
// Shapes beyond these have the fixed rule.
constexpr size_t kMaxChoices = 8192;

}  // namespace

TuningKey::TuningKey(const char* op) : bytes_(op) {
  bytes_.push_back('\0');
  add(most_threads());
}

Tuner& Tuner::get() {
  static NoDestroy<Tuner> instance;
  return instance.get();
}

bool Tuner::is_on(double work) { return work >= kMinWork && softnpuTunes() != 0; }

std::shared_ptr<Choice> Tuner::find(const TuningKey& key) const {
  std::lock_guard lock(mutex_);
  const auto found = choices_.find(key.bytes());
  return found == choices_.end() ? nullptr : found->second;
}

std::shared_ptr<Choice> Tuner::open(const TuningKey& key, const std::function<std::string()>& describe,
                                    std::vector<std::string> names) {
  auto result = std::make_shared<Choice>(describe(), std::move(names));
  std::lock_guard lock(mutex_);
  if (choices_.size() >= kMaxChoices && !choices_.contains(key.bytes())) return nullptr;
  const auto [at, is_new] = choices_.try_emplace(key.bytes(), std::move(result));
  if (is_new) in_order_.push_back(at->second);
  return at->second;
}

std::vector<std::shared_ptr<const Choice>> Tuner::all() const {
  std::lock_guard lock(mutex_);
  return in_order_;
}

bool Tuner::may_spend() const {
  const Duration spent(spent_.load(std::memory_order_relaxed));
  return spent < kFreeTime + (std::chrono::steady_clock::now() - started_) / kTimePerTuning;
}

void Tuner::delay(const std::string& name, std::chrono::microseconds duration) {
  std::lock_guard lock(mutex_);
  if (duration.count() == 0) {
    delays_.erase(name);
  } else {
    delays_[name] = duration;
  }
  has_delays_ = !delays_.empty();
}

void Tuner::sleep_if_delayed(const std::string& name) const {
  if (!has_delays_.load(std::memory_order_relaxed)) return;
  std::chrono::microseconds duration{0};
  {
    std::lock_guard lock(mutex_);
    const auto found = delays_.find(name);
    if (found != delays_.end()) duration = found->second;
  }
  std::this_thread::sleep_for(duration);
}

}  // namespace softnpu
