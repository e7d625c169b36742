#include "simd/targets.h"

#include <hwy/targets.h>

#include "softnpu/softnpu.h"

namespace softnpu {
namespace {

// Highway's target bits are ordered from the best: all lower bits are better targets.
constexpr int64_t better_than(int64_t target) { return target - 1; }

void limit() {
  switch (softnpuGetCpuCapability()) {
    case SOFTNPU_CPU_DEFAULT: break;
    case SOFTNPU_CPU_AVX2: hwy::DisableTargets(better_than(HWY_AVX2)); break;
    case SOFTNPU_CPU_AVX512: hwy::DisableTargets(better_than(HWY_AVX3)); break;
  }
}

}  // namespace

void limit_simd_targets() {
  static const bool done = (limit(), true);
  (void)done;
}

}  // namespace softnpu
