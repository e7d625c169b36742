#pragma once
// Calls that can be planned for operands at other addresses, with everything else as it was.

#include <memory>
#include <span>

#include "base/status.h"
#include "fusion/elementwise_loop.h"

namespace softnpu {

struct Plan;

class Rebindable {
 public:
  Rebindable() = default;
  Rebindable(const Rebindable&) = delete;
  Rebindable& operator=(const Rebindable&) = delete;
  virtual ~Rebindable() = default;

  // Plans the call for `operands`, one address for each of the call's operands, in their order.
  virtual Status rebind(std::span<void* const> operands, Plan* plan) const = 0;
};

// The call of a plan, whose operands have addresses already.
class RebindablePlan : public Rebindable {
 public:
  // The addresses in the plan.
  virtual std::span<void* const> operands() const = 0;

  // The call's work as a loop, for operators on lists; null if it is not a loop.
  virtual std::shared_ptr<const ElementwiseLoop> as_loop() const { return nullptr; }
};

}  // namespace softnpu
