#pragma once
// Mappings that read from device memory the number that elementwise ones have as a constant.

#include "ops/math/elementwise/map.h"

namespace softnpu {

// Null if it is not defined for `compute_type`.
MapKernel addcmul_kernel(ComputeType compute_type);  // a + d b c
MapKernel addcdiv_kernel(ComputeType compute_type);  // a + d b / c
MapKernel round_kernel(ComputeType compute_type);    // a rounded by mode b, the same for all; unknown modes: no change

}  // namespace softnpu
