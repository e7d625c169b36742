#include "simd/non_temporal.h"

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/non_temporal.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/non_temporal_lines.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

void copy_non_temporal(void* to, const void* from, size_t bytes, const void* ahead) {
  auto* out = static_cast<uint8_t*>(to);
  const auto* in = static_cast<const uint8_t*>(from);
  if (ahead == nullptr) {
    store_lines_non_temporal(out, in, bytes, [](size_t) {});
  } else {
    const auto* next = static_cast<const uint8_t*>(ahead);
    store_lines_non_temporal(out, in, bytes, [next](size_t at) { hwy::Prefetch(next + at); });
  }
}

NonTemporalCopy kernel() { return &copy_non_temporal; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(kernel);

}  // namespace

NonTemporalCopy non_temporal_copy() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel)();
}

void fence_non_temporal_stores() { hwy::FlushStream(); }

}  // namespace softnpu
#endif
