#pragma once
// How a plan is rebound whose run is an object with the addresses of its operands.

#include <algorithm>
#include <memory>
#include <span>

#include "nnopbase/plan.h"

namespace softnpu {

// Run must have `operands`, an array; operand_count(); put(Plan*) const, which makes a plan of it; and as_loop() const
// if it can be a part of a list's loop.
template <typename Run>
class RebindableRun final : public Rebindable {
 public:
  explicit RebindableRun(const Run& run) : run_(run) {}
  static std::unique_ptr<const Rebindable> make(const Plan& plan) {
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

}  // namespace softnpu
