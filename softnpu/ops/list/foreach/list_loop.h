#pragma once
// One loop over the tensors of a list: over the first tensor's elements, then over the second's.

#include <memory>
#include <vector>

#include "fusion/elementwise_loop.h"

namespace softnpu {

class ListLoop final : public ElementwiseLoop {
 public:
  // Parts must be independent: none accesses memory that another one writes. `cost`: of all elements, in the operations
  // of threads_for.
  ListLoop(std::vector<std::shared_ptr<const ElementwiseLoop>> parts, double cost);

  void run_all() const;

  int64_t count() const override { return begins_.back(); }
  void add_accesses(std::vector<MemoryAccess>* to) const override;
  void run(int64_t first, int64_t last) const override;
  double cost_per_element() const override;

 private:
  std::vector<std::shared_ptr<const ElementwiseLoop>> parts_;
  std::vector<int64_t> begins_;  // first index of each part, then the end of the last one
  double cost_;
};

}  // namespace softnpu
