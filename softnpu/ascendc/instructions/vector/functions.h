#pragma once
// The functions of the vector unit over contiguous elements, chosen for the CPU at run time.

#include "softnpu_kernel/vector.h"

namespace softnpu::kernel {

// `count` elements. The destination may be a source, element for element; where the instruction adds to it, it is read.
using VectorFunction = void (*)(void* destination, const void* first, const void* second, size_t count,
                                const VectorInstruction& instruction);

// Null where the unit has no such instruction for the types.
VectorFunction vector_function(VectorOp op, DataType destination, DataType source);

}  // namespace softnpu::kernel
