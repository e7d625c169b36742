#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

// Runs `check` with each vector instruction set of this machine, then returns to the best.
template <typename Check>
void for_each_instruction_set(Check check) {
  const int64_t all = hwy::SupportedTargets();
  for (int64_t rest = all; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(all);
}
