#pragma once
// Plans whose run is an object with the addresses of its operands: a cached launch binds it to others.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "nnopbase/plan.h"
#include "workers/parallel.h"

namespace softnpu {

// How such a plan is rebound. Run must have `operands`, an array; operand_count(); put(Plan*) const, which makes a plan
// of it; and as_loop() const if it can be a part of a list's loop.
template <typename Run>
class RebindableRun final : public RebindablePlan {
 public:
  explicit RebindableRun(const Run& run) : run_(run) {}
  static std::unique_ptr<const RebindablePlan> make(const Plan& plan) {
    return std::make_unique<RebindableRun>(*plan.run.template target<Run>());
  }

  std::span<void* const> operands() const override { return {run_.operands.data(), run_.operand_count()}; }
  Status rebind(std::span<void* const> operands, Plan* plan) const override {
    Run run = run_;
    std::ranges::copy(operands, run.operands.begin());
    run.put(plan);
    return Status::ok();
  }
  std::shared_ptr<const ElementwiseLoop> as_loop() const override {
    if constexpr (requires { run_.as_loop(); }) return run_.as_loop();
    return nullptr;
  }

 private:
  const Run run_;
};

// A task on operands. Task must have work(), operand_count() (N at most) and run(const std::array<void*, N>&, threads),
// which needs no workspace. It may have describe(); threads() where threads_for(work()) is not right; and at(operands),
// a copy whose run() gets no other operands than those.
template <typename Task, size_t N>
struct OperandRun {
  std::shared_ptr<const Task> task;
  std::array<void*, N> operands{};
  int threads = 1;

  size_t operand_count() const { return task->operand_count(); }
  Status operator()(void* /*workspace*/) const { return task->run(operands, threads); }

  void put(Plan* plan) const {
    OperandRun bound = *this;
    if constexpr (requires { task->at(operands); }) bound.task = task->at(operands);
    if constexpr (requires { task->threads(); }) {
      bound.threads = task->threads();
    } else {
      bound.threads = threads_for(task->work());
    }
    plan->work = task->work();
    if constexpr (requires { task->describe(); }) plan->describe = [task = task] { return task->describe(); };
    plan->rebindable = &RebindableRun<OperandRun>::make;
    plan->run = std::move(bound);
  }
};

}  // namespace softnpu
