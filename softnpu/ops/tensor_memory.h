#pragma once

#include "nnopbase/tensor.h"

namespace softnpu {

// Where a kernel on the host finds the first element of `tensor`; null for a tensor without elements. Fails where its
// elements do not all lie in one allocation of device memory, and for formats with blocks. `role` names the argument in
// the error's text.
Status tensor_memory(const aclTensor& tensor, const char* role, void** out);

// Whether the elements fill one piece of memory without gap or overlap, whatever the order of the dimensions.
bool is_dense(const aclTensor& tensor);

}  // namespace softnpu
