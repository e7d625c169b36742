#pragma once
// Mappings that read a number from device memory where elementwise ones have a constant.

#include "ops/elementwise/map.h"

namespace softnpu {

// Null where it is not defined for `wide`.
MapKernel addcmul_kernel(Wide wide);  // a + d b c
MapKernel addcdiv_kernel(Wide wide);  // a + d b / c
MapKernel round_kernel(Wide wide);    // a rounded by mode b, which is the same for all; unknown modes leave it

}  // namespace softnpu
