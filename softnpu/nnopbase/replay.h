#pragma once
// A call's work apart from its tensors: done again on others that are described alike, it needs no planning.

#include <memory>
#include <span>

#include "fusion/elementwise_loop.h"

namespace softnpu {

struct Plan;

class Replay {
 public:
  Replay() = default;
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  virtual ~Replay() = default;

  // Where kernels find the first element of each operand of the call that was planned.
  virtual std::span<void* const> operands() const = 0;

  // Plans the same on `operands`, in their order. What is written is the caller's matter.
  virtual void plan(std::span<void* const> operands, Plan* plan) const = 0;

  // The call's work as a loop, for an operator on lists; null where it is none.
  virtual std::shared_ptr<const ElementwiseLoop> as_loop() const { return nullptr; }
};

// Makes it from a plan.
using MakeReplay = std::unique_ptr<const Replay> (*)(const Plan& plan);

}  // namespace softnpu
