#pragma once
// What a capture keeps of a task: everything that a replay needs to run it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/inline_function.h"
#include "base/status.h"
#include "runtime/stream/cost.h"
#include "runtime/stream/steps.h"
#include "softnpu/launch.h"

namespace softnpu {

struct CapturedTask {
  using Work = InlineFunction<Status(), 64>;
  static constexpr size_t kNeverDead = SIZE_MAX;

  const char* name = "";                    // a literal
  Work work;                                // runs at each replay
  StepsMaker make_steps;                    // instead of `work`: what runs at each replay, parked between its steps
  const softnpuFusible* fusible = nullptr;  // lives as long as the work; null if it always runs alone
  std::vector<softnpuRange> written;        // each replay raises their write epochs
  Cost cost = Cost::kLarge;
  uint32_t stream = 0;          // the id of its stream
  std::vector<uint32_t> after;  // earlier tasks that must be complete before it begins
  bool is_updatable = false;    // part of a task group: runs alone, and may be replaced between two runs
  size_t dead_at = kNeverDead;  // tasks from this one on do not read its output
};

}  // namespace softnpu
