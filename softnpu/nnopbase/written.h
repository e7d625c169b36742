#pragma once
// The memory of tensors, and which of them a call writes.

#include "nnopbase/arrays.h"
#include "nnopbase/plan.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// The memory range of a strided tensor; empty without elements.
inline softnpuRange device_bytes(const aclTensor& tensor) {
  const size_t size = aclDataTypeSize(tensor.dtype);
  return {static_cast<const char*>(tensor.data) + static_cast<size_t>(tensor.offset) * size,
          static_cast<size_t>(extent(tensor)) * size};
}

// Adds the memory of `out`, if it is given and `plan` does not leave it unchanged, to the ranges that `plan` writes.
ACL_FUNC_VISIBILITY void add_written(const aclTensor* out, Plan* plan);
ACL_FUNC_VISIBILITY void add_written(const aclTensorList* out, Plan* plan);

// Adds every argument whose parameter is not const.
template <typename T>
void add_if_written(const T& argument, Plan* plan) {
  if constexpr (std::is_same_v<T, aclTensor*> || std::is_same_v<T, aclTensorList*>) add_written(argument, plan);
}

}  // namespace softnpu
