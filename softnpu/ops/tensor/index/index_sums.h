#pragma once
// Sums at the rows that an index selects. Sums of half types are in float32 and rounded once, as in PyTorch's CPU
// kernels.

#include "nnopbase/plan.h"
#include "ops/core/iterate/view.h"

namespace softnpu {

// out[index] += alpha * other along dimension `dim`; `index` is a vector.
struct IndexSums {
  View out;
  size_t dim = 0;
  View index;
  View other;  // the sizes of `out`, with the index's in `dim`
  double alpha = 1;

  // Whether `dim` is the innermost dimension in memory and most of its elements are selected.
  bool is_by_line() const;
};
// For floating-point elements; for half types only if not is_by_line(). Runs `before` first, if it is set.
Status plan_index_sums(const IndexSums& sums, Plan before, Describe message, Plan* plan);

}  // namespace softnpu
