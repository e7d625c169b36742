#pragma once
// Rows of elements: conversions between memory and compute types.

#include <cstddef>
#include <cstdint>

#include "ops/core/dtype.h"

namespace softnpu {

// Converts `count` elements, `stride` bytes apart in memory, to contiguous values of their dtype's compute type; and
// back.
using LoadRow = void (*)(const void* from, ptrdiff_t stride, size_t count, void* values);
using StoreRow = void (*)(const void* values, size_t count, void* to, ptrdiff_t stride);
// From one compute type to another. `to` may be `from` if the new type is not larger.
using ConvertComputed = void (*)(const void* from, size_t count, void* to);

LoadRow load_row(aclDataType dtype);
StoreRow store_row(aclDataType dtype);
// As in C++; a complex number becomes its real part.
ConvertComputed compute_row(ComputeType from, ComputeType to);
// Writes 1 for nonzero values, else 0, in int32.
ConvertComputed truth_row(ComputeType from);

}  // namespace softnpu
