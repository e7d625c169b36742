#pragma once
// Tensors in the text of errors: "float32[2, 3]".

#include <cstdint>
#include <span>
#include <string>

#include "nnopbase/tensor.h"

namespace softnpu {

std::string describe_shape(std::span<const int64_t> dims);
std::string describe(const aclTensor& tensor);
// "(float32[2, 3], float32[3])"; null stands for an argument that was left out.
std::string describe(std::span<const aclTensor* const> tensors);

}  // namespace softnpu
