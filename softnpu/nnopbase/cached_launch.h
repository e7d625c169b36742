#pragma once
// A call's plan that can be bound to other tensors with the same descriptions: launching it again needs no planning.

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

  // The kernel addresses of each operand's first element in the planned call.
  virtual std::span<void* const> operands() const = 0;

  // Makes the same plan for `operands`, in the same order. The caller sets Plan::written.
  virtual void plan(std::span<void* const> operands, Plan* plan) const = 0;

  // The call's work as a loop, for operators on lists; null if it is not a loop.
  virtual std::shared_ptr<const ElementwiseLoop> as_loop() const { return nullptr; }
};

// Creates it from a plan.
using MakeCachedLaunch = std::unique_ptr<const CachedLaunch> (*)(const Plan& plan);

}  // namespace softnpu
