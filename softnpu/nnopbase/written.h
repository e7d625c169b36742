#pragma once
// What a call's outputs are in memory.

#include "nnopbase/arrays.h"
#include "nnopbase/plan.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Adds the memory of `out` to what `plan` writes; a tensor that is missing has none.
ACL_FUNC_VISIBILITY void add_written(const aclTensor* out, Plan* plan);
ACL_FUNC_VISIBILITY void add_written(const aclTensorList* out, Plan* plan);

// Adds every argument that the operator takes as not const.
template <typename T>
void add_if_written(const T& argument, Plan* plan) {
  if constexpr (std::is_same_v<T, aclTensor*> || std::is_same_v<T, aclTensorList*>) add_written(argument, plan);
}

}  // namespace softnpu
