#pragma once
// Views of a tensor's memory. Dimensions and their order must be the tensor's own.

#include <cstdint>
#include <initializer_list>
#include <span>

#include "nnopbase/tensor.h"

namespace softnpu {

// Inserts a dimension of size 1 before dimension `at`.
aclTensor unsqueeze(const aclTensor& tensor, size_t at);
// Dimension i of the view is dimension order[i] of the tensor.
aclTensor permute(const aclTensor& tensor, std::initializer_list<size_t> order);
// Broadcasts to `dims`. `role` names the tensor in the error text.
Status expand(const aclTensor& tensor, std::span<const int64_t> dims, const char* role, aclTensor* out);

}  // namespace softnpu
