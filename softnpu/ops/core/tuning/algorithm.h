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

template <typename Problem, typename Implementation>
struct Algorithm {
  const char* name;
  Attempt<Implementation> (*make)(const Problem& problem);
  Use use = Use::kAlways;
  bool may_lose = false;  // it needs the permission to lose float32's precision
};

// The first row for which attempt(row) makes something; the refusal of the last one if there is none.
// describe() is for the log: the work as a text.
template <typename Implementation, typename Rows, typename Try, typename Describe>
Attempt<Implementation> first_implementation(const Rows& rows, const Try& attempt, const Describe& describe) {
  SmallVector<RefusedAlgorithm, 8> refused;
  const char* why = "no algorithm is open";
  for (const auto& row : rows) {
    Attempt<Implementation> result = attempt(row);
    if (result) {
      if (AlgorithmLog::is_on()) AlgorithmLog::get().add(describe(), row.name, {refused.data(), refused.size()});
      return result;
    }
    why = result.why();
    refused.push_back({row.name, why});
  }
  return Refusal{why};
}

// The first row that serves the problem by the fixed rule.
template <typename Problem, typename Implementation, size_t N, typename Describe>
Attempt<Implementation> first_of(const std::array<Algorithm<Problem, Implementation>, N>& table, const Problem& problem,
                                 const Describe& describe) {
  std::vector<Algorithm<Problem, Implementation>> by_rule;
  for (const auto& row : table) {
    if (row.use != Use::kByTime) by_rule.push_back(row);
  }
  return first_implementation<Implementation>(
      by_rule, [&](const auto& row) { return row.make(problem); }, describe);
}

// Serves the problem by the table's last row, where all others refuse it for one reason.
template <typename Problem, typename Implementation, size_t N, typename Describe>
Attempt<Implementation> serve_by_reference(const std::array<Algorithm<Problem, Implementation>, N>& table,
                                           const Problem& problem, const char* why, const Describe& describe) {
  return first_implementation<Implementation>(
      table,
      [&](const auto& row) -> Attempt<Implementation> {
        if (&row != &table.back()) return Refusal{why};
        return row.make(problem);
      },
      describe);
}

// The rows that may be timed, as offers to choose_implementation(). convert(Attempt<Made>) is an
// Attempt<Implementation>.
template <typename Problem, typename Implementation, size_t N, typename Convert>
std::vector<Offer> offers_of(const std::array<Algorithm<Problem, Implementation>, N>& table, const Problem& problem,
                             const Convert& convert) {
  std::vector<Offer> offers;
  for (const auto& row : table) {
    if (row.use == Use::kByRule) continue;
    offers.push_back({row.name, [&problem, convert, make = row.make] { return convert(make(problem)); }, row.may_lose});
  }
  return offers;
}

}  // namespace softnpu
