#pragma once

namespace softnpu {

// Restricts Highway to the instructions that SOFTNPU_CPU_CAPABILITY allows. Called before each HWY_DYNAMIC_DISPATCH.
void limit_simd_targets();

}  // namespace softnpu
