#pragma once
// Kernels on runs of elements of an indexed tensor and of the other one.

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"

namespace softnpu {

enum class RowOp : uint8_t { kRead, kWrite, kAdd, kAddScaled, kMultiply, kLarger, kSmaller };

// Arguments: `indexed` and `other` with their strides in bytes, a count. kRead writes `other`, the others `indexed`.
// `alpha`, in the compute type, is the factor of `other` for kAddScaled; otherwise unused.
using RowKernel = void (*)(char* indexed, ptrdiff_t indexed_stride, char* other, ptrdiff_t other_stride, int64_t count,
                           const void* alpha);

// For bool kAdd is or and kMultiply is and. NaN is both maximum and minimum. Null if the type has no order.
RowKernel row_kernel(RowOp op, aclDataType dtype);

}  // namespace softnpu
