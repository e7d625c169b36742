#pragma once
// Detects tensors with two elements at the same address: they cannot be outputs.

#include <type_traits>

#include "nnopbase/arrays.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Whether two elements of a strided tensor are known to share an address. If three or more dimensions interleave, only
// pairs of them are checked: a full check may take longer than any operator. Operators check for negative strides
// themselves.
ACL_FUNC_VISIBILITY bool overlaps_itself(const aclTensor& tensor);

// Not inline: keeps the error path out of the planning code.
ACL_FUNC_VISIBILITY Status overlapping_argument(size_t position);

// False if the operator writes the argument and its elements overlap.
template <typename T>
bool has_distinct_elements(const T& argument) {
  if constexpr (std::is_same_v<T, aclTensor*>) {
    if (argument == nullptr) return true;
    // Fast path: without gaps, as nearly all tensors are.
    uint64_t next = 1;  // wraps around only without elements
    bool is_contiguous = true;
    for (size_t i = argument->dims.size(); i-- > 0;) {
      is_contiguous = is_contiguous && argument->strides[i] == static_cast<int64_t>(next);
      next *= static_cast<uint64_t>(argument->dims[i]);
    }
    return is_contiguous || !overlaps_itself(*argument);
  } else if constexpr (std::is_same_v<T, aclTensorList*>) {
    if (argument == nullptr) return true;
    for (const aclTensor* tensor : *argument) {
      if (tensor != nullptr && overlaps_itself(*tensor)) return false;
    }
    return true;
  } else {
    return true;
  }
}

}  // namespace softnpu
