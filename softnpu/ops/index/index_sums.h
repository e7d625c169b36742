#pragma once
// Sums at the entries of an index. Those of halves are float32 and rounded once, as PyTorch's CPU has them.

#include <string>

#include "nnopbase/plan.h"
#include "ops/iterate/view.h"

namespace softnpu {

// `out` gets `alpha` times `other` where `index`, a vector, chooses along dimension `dim`.
struct IndexSums {
  View out;
  size_t dim = 0;
  View index;
  View other;  // the sizes of `out`, and the index's in `dim`
  double alpha = 1;

  // Whether the elements along `dim` are nearest in memory, and most of them are chosen.
  bool is_by_line() const;
};
// For elements of floating point; of halves only where they are not by line. `before` runs first, if it can.
Status plan_index_sums(const IndexSums& sums, Plan before, std::string said, Plan* plan);

}  // namespace softnpu
