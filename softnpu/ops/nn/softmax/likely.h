#pragma once
// Planner for operators.txt: the most probable elements of rows.

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Of each row of logits [N, V] the elements stay that are not less than the k[row]-th largest one, and of these the
// most probable ones whose predecessors have less than p[row] of the probability of all that stayed; of equal ones the
// last. The others become -inf. NaN is larger than all numbers: none is below it, and with it p keeps all. k from V on,
// and a missing k or p, keep all; one element always stays. A k below 1 is an error of the launch.
Status keep_likely(const aclTensor& logits, const aclTensor* p, const aclTensor* k, const aclTensor& out, Plan* plan);

}  // namespace softnpu
