#pragma once

#include "nnopbase/tensor.h"

namespace softnpu {

// The address of the first element of `tensor` for host kernels; null for a tensor without elements. Fails unless all
// elements are in one allocation of device memory, and for blocked formats. `role` names the argument in the error
// text.
Status tensor_memory(const aclTensor& tensor, const char* role, void** out);

// Whether the elements fill a contiguous range without gap or overlap, in any order of dimensions.
bool is_dense(const aclTensor& tensor);

}  // namespace softnpu
