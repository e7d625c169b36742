#pragma once
// A plan whose work is a task on the addresses of its operands: a cached launch binds it to others.

#include <array>
#include <memory>
#include <utility>

#include "nnopbase/plan.h"
#include "ops/core/rebindable_run.h"
#include "workers/parallel.h"

namespace softnpu {

// Task must have work(), operand_count() (N at most), describe(), and run(const std::array<void*, N>&, threads), which
// needs no workspace.
template <typename Task, size_t N>
struct OperandRun {
  std::shared_ptr<const Task> task;
  std::array<void*, N> operands{};
  int threads = 1;

  size_t operand_count() const { return task->operand_count(); }
  Status operator()(void* /*workspace*/) const { return task->run(operands, threads); }

  void put(Plan* plan) const {
    plan->work = task->work();
    plan->run = OperandRun{task, operands, threads_for(task->work())};
    plan->describe = [task = task] { return task->describe(); };
    plan->rebindable = &RebindableRun<OperandRun>::make;
  }
};

}  // namespace softnpu
