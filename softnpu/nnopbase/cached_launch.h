#pragma once
// A call's plan that can be bound to other tensors of the same descriptions: launching it again needs no planning.

#include <memory>
#include <span>

#include "fusion/elementwise_loop.h"

namespace softnpu {

struct Plan;

class CachedLaunch {
 public:
  CachedLaunch() = default;
  CachedLaunch(const CachedLaunch&) = delete;
  CachedLaunch& operator=(const CachedLaunch&) = delete;
  virtual ~CachedLaunch() = default;

  // Where kernels find the first element of each operand of the call that was planned.
  virtual std::span<void* const> operands() const = 0;

  // Plans the same on `operands`, in their order. What is written is the caller's matter.
  virtual void plan(std::span<void* const> operands, Plan* plan) const = 0;

  // The call's work as a loop, for an operator on lists; null where it is none.
  virtual std::shared_ptr<const ElementwiseLoop> as_loop() const { return nullptr; }
};

// Makes it from a plan.
using MakeCachedLaunch = std::unique_ptr<const CachedLaunch> (*)(const Plan& plan);

}  // namespace softnpu
