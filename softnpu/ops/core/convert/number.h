#pragma once
// Host numbers as values and elements of a data type, converted as in PyTorch: integers wrap at the type's width, and
// bool is whether the number is nonzero.

#include "acl/acl_base.h"
#include "nnopbase/scalar.h"

namespace softnpu {

// `value` in the compute type of `dtype`; floating-point numbers keep the precision of the compute type.
void put_scalar(const aclScalar& value, aclDataType dtype, void* to);
// Rounds one value in the compute type of `dtype` to a value of `dtype`.
void round_value(aclDataType dtype, void* value);
// `value` as an element in memory.
void store_scalar(const aclScalar& value, aclDataType dtype, void* to);

// A data type that represents all values of the compute type of `dtype`.
aclDataType computed_as(aclDataType dtype);

}  // namespace softnpu
