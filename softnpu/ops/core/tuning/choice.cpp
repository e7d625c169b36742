#include "ops/core/tuning/choice.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <utility>

#include "ops/blas/weights/packed_weights.h"
#include "ops/core/tuning/tuner.h"

namespace softnpu {
namespace {

using Clock = std::chrono::steady_clock;

// A candidate replaces the fixed rule's if it takes less than this part of its time: less is noise, and the rule is the
// same in each process.
constexpr double kGain = 0.9;
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

Choice::Choice(std::string work, std::vector<std::string> names) : work_(std::move(work)) {
  for (std::string& name : names) candidates_.push_back({std::move(name)});
  if (candidates_.size() == 1) chosen_ = 0;
}

bool Choice::is_between(const std::vector<std::string>& names) const {
  return std::ranges::equal(candidates_, names, {}, &TimedCandidate::name);
}

std::vector<TimedCandidate> Choice::candidates() const {
  if (chosen() >= 0) return candidates_;
  std::vector<TimedCandidate> open;
  for (const TimedCandidate& candidate : candidates_) open.push_back({candidate.name});
  return open;
}

size_t Choice::decide(const std::function<void(size_t)>& run, bool* is_computed) {
  *is_computed = false;
  if (const int known = chosen(); known >= 0) return static_cast<size_t>(known);
  std::lock_guard lock(mutex_);
  if (const int known = chosen(); known >= 0) return static_cast<size_t>(known);
  size_t best = 0;
  if (Tuner::get().may_spend()) {
    const auto started = Clock::now();
    best = time_all(run);
    Tuner::get().spend(Clock::now() - started);
    *is_computed = true;
  }
  chosen_.store(static_cast<int>(best), std::memory_order_release);
  return best;
}

// The fixed rule's candidate runs first, which touches all memory, and again behind the others, so that its result is
// there where no other one is clearly faster. Those that are run twice more, in turn with it: weights are packed in the
// second run and read packed in the third.
size_t Choice::time_all(const std::function<void(size_t)>& run) {
  const size_t count = candidates_.size();
  std::vector<double> times(count, kNever);
  std::vector<PackedWeights::Copies> copies(count);
  size_t last = 0;
  const auto time = [&](size_t i) {
    const PackedWeights::Recording recording(&copies[i]);
    const auto started = Clock::now();
    run(i);
    last = i;
    times[i] = std::min(times[i], std::chrono::duration<double, std::micro>(Clock::now() - started).count());
  };
  const auto time_other = [&](size_t i) {
    try {
      time(i);
    } catch (const std::exception&) {
      times[i] = kNever;  // no memory for it, or a kernel that oneDNN cannot run
      return false;
    }
    return true;
  };
  std::vector<size_t> faster;
  const auto compare = [&](const std::vector<size_t>& candidates) {
    faster.clear();
    for (const size_t i : candidates) {
      if (times[i] < kGain * times[0]) faster.push_back(i);
    }
  };
  std::vector<size_t> others;
  for (size_t i = 1; i < count; ++i) others.push_back(i);
  time(0);
  std::erase_if(others, [&](size_t i) { return !time_other(i); });
  time(0);
  for (int round = 0; round < 2; ++round) {
    compare(others);
    if (faster.empty()) break;
    if (round > 0) time(0);
    others = faster;
    std::erase_if(others, [&](size_t i) { return !time_other(i); });
  }
  compare(others);
  const auto best = std::ranges::min_element(faster, {}, [&](size_t i) { return times[i]; });
  const size_t chosen = best == faster.end() ? 0 : *best;
  if (last != chosen) time(chosen);
  for (size_t i = 0; i < count; ++i) {
    if (i != chosen) PackedWeights::get().drop(copies[i]);
    if (times[i] != kNever) candidates_[i].us = times[i];
  }
  return chosen;
}

}  // namespace softnpu
