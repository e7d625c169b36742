#pragma once
// Tensors in the text of errors: "float32[2, 3]".

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "nnopbase/plan.h"
#include "nnopbase/tensor.h"

namespace softnpu {

std::string describe_shape(std::span<const int64_t> dims);
std::string describe(const aclTensor& tensor);
// "(float32[2, 3], float32[3])"; null stands for an argument that was left out.
std::string describe(std::span<const aclTensor* const> tensors);

// The same, put together when it is asked for: a plan that succeeds has no use for it. Takes nothing from the heap for
// up to 5 tensors with 12 dimensions in all.
Describe describe_later(std::span<const aclTensor* const> tensors);
inline Describe describe_later(std::initializer_list<const aclTensor*> tensors) {
  return describe_later(std::span(tensors.begin(), tensors.size()));
}

}  // namespace softnpu
