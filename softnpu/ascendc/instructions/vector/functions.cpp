#include "ascendc/instructions/vector/functions.h"

#include "ascendc/instructions/vector/dispatch.h"

namespace softnpu::kernel {

VectorFunction vector_function(VectorOp op, DataType destination, DataType source) {
  if (op == VectorOp::kCast) return cast_function(destination, source);
  if (destination != source) return mixed_axpy_function(op, destination, source);
  if (VectorFunction found = arithmetic_function(op, source); found != nullptr) return found;
  if (VectorFunction found = exponential_function(op, source); found != nullptr) return found;
  return shift_function(op, source);
}

}  // namespace softnpu::kernel
