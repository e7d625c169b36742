#pragma once
// results[i] = f(self over the marked dimensions), any dtypes and any strides.

#include "nnopbase/executor.h"
#include "ops/reduce/kernel.h"
#include "ops/reduce/space.h"

namespace softnpu {

struct Reduction {
  ReduceOp op = ReduceOp::kSum;
  // What values are converted to before they are reduced.
  aclDataType dtype = ACL_DT_UNDEFINED;
  // What the kernel's results are, before they are converted to those of the tensors.
  std::array<aclDataType, kMostResults> results{};
  std::array<double, kMostReduceConstants> constants{1, 0};
  bool needs_values = false;  // no result without a value
  double cost = 1;            // about what one value costs beside its memory, in simple vector operations
};

Status plan_reduce(const Reduction& reduction, const aclTensor& self, const std::vector<bool>& marked, bool keepdim,
                   const Results& results, Plan* plan);

}  // namespace softnpu
