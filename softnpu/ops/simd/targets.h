#pragma once

namespace softnpu {

// Has Highway keep to the instructions that SOFTNPU_CPU_CAPABILITY allows. Called before each HWY_DYNAMIC_DISPATCH.
void limit_simd_targets();

}  // namespace softnpu
