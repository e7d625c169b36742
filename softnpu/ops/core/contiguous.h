#pragma once

#include "nnopbase/tensor.h"

namespace softnpu {

// Whether the elements are stored in the order of the dimensions, without gaps.
inline bool is_contiguous(const aclTensor& tensor) {
  int64_t next = 1;
  for (size_t i = tensor.dims.size(); i-- > 0; next *= tensor.dims[i]) {
    if (tensor.dims[i] != 1 && tensor.strides[i] != next) return false;
  }
  return true;
}

}  // namespace softnpu
