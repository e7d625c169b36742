#pragma once
// The sweeps of a list's tensors as one, which goes over the first tensor's elements, then over the second's.

#include <memory>
#include <vector>

#include "nnopbase/sweep.h"

namespace softnpu {

class ListSweep final : public Sweep {
 public:
  // No part touches what another one writes. `cost`: of all elements, in the operations that threads_for counts.
  ListSweep(std::vector<std::shared_ptr<const Sweep>> parts, double cost);

  void run_all() const;

  int64_t count() const override { return begins_.back(); }
  void add_memory(std::vector<SweepMemory>* to) const override;
  void run(int64_t first, int64_t last) const override;
  void run_together(std::span<const Sweep* const> sweeps, int64_t first, int64_t last) const override;

 private:
  std::vector<std::shared_ptr<const Sweep>> parts_;
  std::vector<int64_t> begins_;  // of each part's elements among all; behind them, where the last one's end
  double cost_;
};

}  // namespace softnpu
