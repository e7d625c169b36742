#pragma once
// Rows of elements between memory and the compute types that kernels compute in.

#include <cstddef>
#include <cstdint>

#include "ops/dtype.h"

namespace softnpu {

// `count` elements, `stride` bytes apart in memory, to the compute type of their dtype, one behind the other; and back.
using LoadRow = void (*)(const void* from, ptrdiff_t stride, size_t count, void* values);
using StoreRow = void (*)(const void* values, size_t count, void* to, ptrdiff_t stride);
// From one compute type to another. `to` may be `from` where the new type is not larger.
using ConvertComputed = void (*)(const void* from, size_t count, void* to);

LoadRow load_row(aclDataType dtype);
StoreRow store_row(aclDataType dtype);
// As C++ converts; a complex number becomes its real part.
ConvertComputed compute_row(ComputeType from, ComputeType to);
// 1 where a value is not zero, else 0, in int32.
ConvertComputed truth_row(ComputeType from);

}  // namespace softnpu
