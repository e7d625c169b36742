#pragma once
// What operators ask of their tensors before they open them.

#include "nnopbase/tensor.h"
#include "ops/core/dtype.h"

namespace softnpu {

// Whether an optional tensor was passed and has elements.
inline bool is_given(const aclTensor* tensor) { return tensor != nullptr && element_count(*tensor) > 0; }

// Whether float32 holds every number of the type.
inline bool is_value(aclDataType dtype) { return is_known(dtype) && is_floating(dtype) && dtype != ACL_DOUBLE; }

}  // namespace softnpu
