#pragma once
// Tensors in error texts: "float32[2, 3]".

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "nnopbase/plan.h"
#include "nnopbase/tensor.h"

namespace softnpu {

std::string describe_shape(std::span<const int64_t> dims);
std::string describe(const aclTensor& tensor);
// "(float32[2, 3], float32[3])"; null is an omitted argument.
std::string describe(std::span<const aclTensor* const> tensors);

// The same, formatted on demand: a successful plan does not need it. No heap memory for up to 5 tensors with 12
// dimensions in all.
Describe describe_later(std::span<const aclTensor* const> tensors);
inline Describe describe_later(std::initializer_list<const aclTensor*> tensors) {
  return describe_later(std::span(tensors.begin(), tensors.size()));
}

}  // namespace softnpu
