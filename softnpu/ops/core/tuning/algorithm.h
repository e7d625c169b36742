#pragma once
// Tables of algorithms for the same work: constexpr arrays, best first; the last row is the reference, which serves
// all.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ops/core/tuning/algorithm_log.h"
#include "ops/core/tuning/attempt.h"

namespace softnpu {

enum class Use : uint8_t {
  kAlways,
  kByRule,  // not timed against the others
  kByTime,  // only where it was timed and is the fastest
};

template <typename Problem, typename Made>
struct Algorithm {
  const char* name;
  Attempt<Made> (*make)(const Problem& problem);
  Use use = Use::kAlways;
  bool may_lose = false;  // it needs the permission to lose float32's precision
};

// The first row that serves the problem by the fixed rule; the refusal of the last one if there is none.
// describe() is for the log: the work as a text.
template <typename Problem, typename Made, size_t N, typename Describe>
Attempt<Made> first_of(const std::array<Algorithm<Problem, Made>, N>& table, const Problem& problem,
                       const Describe& describe) {
  std::array<RefusedAlgorithm, N> refused;
  size_t count = 0;
  for (const auto& row : table) {
    if (row.use == Use::kByTime) continue;
    Attempt<Made> made = row.make(problem);
    if (made) {
      if (AlgorithmLog::is_on()) AlgorithmLog::get().add(describe(), row.name, {refused.data(), count});
      return made;
    }
    refused[count++] = {row.name, made.why()};
  }
  return Refusal{refused[count - 1].why};
}

}  // namespace softnpu
