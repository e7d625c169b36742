#pragma once
// Families of functions of the vector unit. Each returns null where it has none for the types.

#include "ascendc/instructions/vector/functions.h"

namespace softnpu::kernel {

VectorFunction arithmetic_function(VectorOp op, DataType type);
VectorFunction exponential_function(VectorOp op, DataType type);
VectorFunction shift_function(VectorOp op, DataType type);
VectorFunction mixed_axpy_function(VectorOp op, DataType destination, DataType source);
VectorFunction cast_function(DataType destination, DataType source);

}  // namespace softnpu::kernel
