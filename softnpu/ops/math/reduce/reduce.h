#pragma once
// results[i] = f(self over the marked dimensions), for any dtypes and strides.

#include "nnopbase/executor.h"
#include "ops/math/reduce/kernel.h"
#include "ops/math/reduce/space.h"

namespace softnpu {

struct Reduction {
  ReduceOp op = ReduceOp::kSum;
  // The type to which values are converted before the reduction.
  aclDataType dtype = ACL_DT_UNDEFINED;
  // The types of the kernel's results, before conversion to those of the tensors.
  std::array<aclDataType, kMaxResults> results{};
  std::array<double, kMaxReduceConstants> constants{1, 0};
  bool needs_values = false;  // fails without values
  double cost = 1;            // of one value beyond memory, in simple vector operations
};

Status plan_reduce(const Reduction& reduction, const aclTensor& self, const std::vector<bool>& marked, bool keepdim,
                   const Results& results, Plan* plan);

}  // namespace softnpu
