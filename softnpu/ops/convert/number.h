#pragma once
// Numbers of the host as values and elements of a data type, as PyTorch converts them: an integer wraps at the type's
// width, and bool is what is not zero.

#include "acl/acl_base.h"
#include "nnopbase/scalar.h"

namespace softnpu {

// `value` in the compute type of `dtype`; a floating-point number keeps the precision of that.
void put_scalar(const aclScalar& value, aclDataType dtype, void* to);
// Rounds one value in the compute type of `dtype` to a number that `dtype` has.
void round_value(aclDataType dtype, void* value);
// `value` as an element in memory.
void store_scalar(const aclScalar& value, aclDataType dtype, void* to);

// The type that has every value of the compute type of `dtype`.
aclDataType computed_as(aclDataType dtype);

}  // namespace softnpu
