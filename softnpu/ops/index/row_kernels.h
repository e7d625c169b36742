#pragma once
// What happens to a run of elements of an indexed tensor and of the other one.

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"

namespace softnpu {

enum class RowOp : uint8_t { kRead, kWrite, kAdd, kAddScaled, kMultiply, kLarger, kSmaller };

// `indexed` and `other`, their strides in bytes, a count. kRead writes `other`, all else `indexed`. `alpha`, of the
// type that the dtype is computed in, is what kAddScaled multiplies `other` by; the others do not look at it.
using RowKernel = void (*)(char* indexed, ptrdiff_t indexed_stride, char* other, ptrdiff_t other_stride, int64_t count,
                           const void* alpha);

// kAdd of bool is or, kMultiply and; NaN is larger and smaller than all. Null where numbers have no order.
RowKernel row_kernel(RowOp op, aclDataType dtype);

}  // namespace softnpu
