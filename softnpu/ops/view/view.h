#pragma once
// Other ways to see a tensor's memory. The dimensions and their order must be the tensor's own.

#include <cstdint>
#include <initializer_list>
#include <span>

#include "nnopbase/tensor.h"

namespace softnpu {

// With a dimension of size 1 before dimension `at`.
aclTensor unsqueeze(const aclTensor& tensor, size_t at);
// Dimension i of the view is dimension order[i] of the tensor.
aclTensor permute(const aclTensor& tensor, std::initializer_list<size_t> order);
// Broadcast to `dims`. `role` names the tensor in the error's text.
Status expand(const aclTensor& tensor, std::span<const int64_t> dims, const char* role, aclTensor* out);

}  // namespace softnpu
