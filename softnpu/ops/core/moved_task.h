#pragma once
// A plan whose work is a task with the addresses of its operands in it: a cached launch moves a copy of it to others.

#include <array>
#include <memory>
#include <utility>

#include "nnopbase/plan.h"
#include "ops/core/rebindable_run.h"

namespace softnpu {

// Task must have `work`, run(), which needs no workspace, and for_operands(body), which calls body(FlatTensor&) for
// each of its N operands at most, the outputs included.
template <typename Task, size_t N>
struct MovedTask {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Describe> said;
  std::array<void*, N> operands{};
  size_t count = 0;

  MovedTask(std::shared_ptr<Task> of, Describe description)
      : said(std::make_shared<const Describe>(std::move(description))) {
    of->for_operands([&](auto& tensor) { operands[count++] = tensor.data(); });
    task = std::move(of);
  }

  size_t operand_count() const { return count; }
  Status operator()(void* /*workspace*/) const {
    task->run();
    return Status::ok();
  }

  void put(Plan* plan) const {
    MovedTask moved = *this;
    auto copy = std::make_shared<Task>(*task);
    size_t i = 0;
    copy->for_operands([&](auto& tensor) { tensor.move(operands[i++]); });
    moved.task = std::move(copy);
    plan->work = task->work;
    plan->describe = [said = said] { return (*said)(); };
    plan->rebindable = &RebindableRun<MovedTask>::make;
    plan->run = std::move(moved);
  }
};

}  // namespace softnpu
