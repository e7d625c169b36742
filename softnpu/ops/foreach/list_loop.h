#pragma once
// The loops of a list's tensors as one: over the first tensor's elements, then over the second's.

#include <memory>
#include <vector>

#include "fusion/elementwise_loop.h"

namespace softnpu {

class ListLoop final : public ElementwiseLoop {
 public:
  // No part touches what another one writes. `cost`: of all elements, in the operations that threads_for counts.
  ListLoop(std::vector<std::shared_ptr<const ElementwiseLoop>> parts, double cost);

  void run_all() const;

  int64_t count() const override { return begins_.back(); }
  void add_accesses(std::vector<MemoryAccess>* to) const override;
  void run(int64_t first, int64_t last) const override;
  double cost_per_element() const override;

 private:
  std::vector<std::shared_ptr<const ElementwiseLoop>> parts_;
  std::vector<int64_t> begins_;  // of each part's elements among all; behind them, where the last one's end
  double cost_;
};

}  // namespace softnpu
