#pragma once
// Tables of algorithms for the same work: constexpr arrays, best first; the last row is the reference, which serves
// all.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/small_vector.h"
#include "ops/core/tuning/algorithm_log.h"
#include "ops/core/tuning/attempt.h"
#include "ops/core/tuning/choose.h"

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

// The first row for which attempt(row) makes something; the refusal of the last one if there is none.
// describe() is for the log: the work as a text.
template <typename Made, typename Rows, typename Try, typename Describe>
Attempt<Made> first_made(const Rows& rows, const Try& attempt, const Describe& describe) {
  SmallVector<RefusedAlgorithm, 8> refused;
  const char* why = "no algorithm is open";
  for (const auto& row : rows) {
    Attempt<Made> made = attempt(row);
    if (made) {
      if (AlgorithmLog::is_on()) AlgorithmLog::get().add(describe(), row.name, {refused.data(), refused.size()});
      return made;
    }
    why = made.why();
    refused.push_back({row.name, why});
  }
  return Refusal{why};
}

// The first row that serves the problem by the fixed rule.
template <typename Problem, typename Made, size_t N, typename Describe>
Attempt<Made> first_of(const std::array<Algorithm<Problem, Made>, N>& table, const Problem& problem,
                       const Describe& describe) {
  std::vector<Algorithm<Problem, Made>> by_rule;
  for (const auto& row : table) {
    if (row.use != Use::kByTime) by_rule.push_back(row);
  }
  return first_made<Made>(
      by_rule, [&](const auto& row) { return row.make(problem); }, describe);
}

// Serves the problem by the table's last row, where all others refuse it for one reason.
template <typename Problem, typename Made, size_t N, typename Describe>
Attempt<Made> serve_by_reference(const std::array<Algorithm<Problem, Made>, N>& table, const Problem& problem,
                                 const char* why, const Describe& describe) {
  return first_made<Made>(
      table,
      [&](const auto& row) -> Attempt<Made> {
        if (&row != &table.back()) return Refusal{why};
        return row.make(problem);
      },
      describe);
}

// The rows that may be timed, as offers to choose_implementation(). convert(Attempt<Made>) is an
// Attempt<Implementation>.
template <typename Problem, typename Made, size_t N, typename Convert>
std::vector<Offer> offers_of(const std::array<Algorithm<Problem, Made>, N>& table, const Problem& problem,
                             const Convert& convert) {
  std::vector<Offer> offers;
  for (const auto& row : table) {
    if (row.use == Use::kByRule) continue;
    offers.push_back({row.name, [&problem, convert, make = row.make] { return convert(make(problem)); }, row.may_lose});
  }
  return offers;
}

}  // namespace softnpu
