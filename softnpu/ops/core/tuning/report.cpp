// What softnpu exports about its choices.

#include <chrono>
#include <vector>

#include "base/border.h"
#include "ops/core/tuning/tuner.h"
#include "softnpu/tuning.h"

using softnpu::guarded;
using softnpu::Tuner;

void softnpuVisitTuned(void (*visit)(const softnpuTunedWork*, void*), void* argument) {
  guarded([&] {
    for (const auto& choice : Tuner::get().all()) {
      const std::vector<softnpu::TimedCandidate> timed = choice->candidates();
      if (timed.size() < 2) continue;
      std::vector<softnpuTunedCandidate> candidates;
      candidates.reserve(timed.size());
      for (const softnpu::TimedCandidate& one : timed) candidates.push_back({one.name.c_str(), one.us});
      const softnpuTunedWork work{choice->work().c_str(), choice->uses(), choice->chosen(), candidates.size(),
                                  candidates.data()};
      visit(&work, argument);
    }
  });
}

void softnpuDelayCandidate(const char* name, uint64_t microseconds) {
  guarded([&] {
    if (name != nullptr) Tuner::get().delay(name, std::chrono::microseconds(microseconds));
  });
}
