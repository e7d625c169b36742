#pragma once
// Mappings that read a number from device memory where elementwise ones have a constant.

#include "ops/elementwise/map.h"

namespace softnpu {

// Null where it is not defined for `compute_type`.
MapKernel addcmul_kernel(ComputeType compute_type);  // a + d b c
MapKernel addcdiv_kernel(ComputeType compute_type);  // a + d b / c
MapKernel round_kernel(
    ComputeType compute_type);  // a rounded by mode b, which is the same for all; unknown modes leave it

}  // namespace softnpu
