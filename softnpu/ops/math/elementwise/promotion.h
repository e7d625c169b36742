#pragma once
// PyTorch's promotion of data types.

#include <initializer_list>
#include <span>

#include "ops/core/dtype.h"
#include "ops/math/elementwise/map.h"

namespace softnpu {

// The floating-point type for integer inputs: the result's type, or PyTorch's default.
aclDataType as_floating(aclDataType dtype, const aclTensor& out);

Category scalar_category(const aclScalar& scalar);
// The type of a scalar of `category` with a tensor of `dtype`, for the result `out`.
aclDataType with_scalar(aclDataType dtype, Category category, const aclTensor& out);
Status unknown_type(const aclTensor& tensor);

// The promoted type of `inputs`, as in torch.result_type. A number that promotes takes the type of `out`, where that is
// of its category, else PyTorch's default.
Status promoted_type(std::span<const MapInput> inputs, const aclTensor& out, aclDataType* common);
inline Status promoted_type(std::initializer_list<MapInput> inputs, const aclTensor& out, aclDataType* common) {
  return promoted_type(std::span(inputs.begin(), inputs.size()), out, common);
}

}  // namespace softnpu
