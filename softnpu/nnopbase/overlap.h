#pragma once
// Tensors of which two elements share a place in memory: as a result they have no value of their own.

#include <type_traits>

#include "nnopbase/arrays.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Whether two elements of a tensor that lies by its strides are known to share a place. Where three or more
// dimensions interleave only pairs of them are looked at: all may take longer than any operator. Negative strides are
// every operator's own error.
ACL_FUNC_VISIBILITY bool overlaps_itself(const aclTensor& tensor);

// Not inline: the way to the error is not the way to the plan.
ACL_FUNC_VISIBILITY Status overlapping_argument(size_t position);

// Whether an argument's elements have places of their own, where the operator writes it.
template <typename T>
bool has_distinct_elements(const T& argument) {
  if constexpr (std::is_same_v<T, aclTensor*>) {
    if (argument == nullptr) return true;
    // Without gaps, as nearly all are.
    uint64_t next = 1;  // wraps around only where there are no elements
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
