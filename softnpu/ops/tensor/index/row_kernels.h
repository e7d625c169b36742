#pragma once
// Kernels that write elements of an indexed tensor.

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"

namespace softnpu {

enum class RowOp : uint8_t { kWrite, kAdd, kAddScaled, kMultiply, kLarger, kSmaller };

// Writes `indexed`. Arguments: `indexed` and `other` with their strides in bytes, a count. `alpha`, in the compute
// type, is the factor of `other` for kAddScaled; otherwise unused.
using RowKernel = void (*)(char* indexed, ptrdiff_t indexed_stride, char* other, ptrdiff_t other_stride, int64_t count,
                           const void* alpha);

// For bool kAdd is or and kMultiply is and. NaN is both maximum and minimum. Null if the type has no order.
RowKernel row_kernel(RowOp op, aclDataType dtype);

// The same for single elements: element k of `other`, which has a stride, and the one at indexed + offsets[k], in
// order.
using ElementKernel = void (*)(char* indexed, const ptrdiff_t* offsets, const char* other, ptrdiff_t other_stride,
                               int64_t count, const void* alpha);
ElementKernel element_kernel(RowOp op, aclDataType dtype);

}  // namespace softnpu
