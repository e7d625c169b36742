// A vector of a floating-point type as float64.
// Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_SIMD_WIDEN_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_SIMD_WIDEN_H_
#undef SOFTNPU_SIMD_WIDEN_H_
#else
#define SOFTNPU_SIMD_WIDEN_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {

// `v`, of as many lanes as D (float64) has.
template <typename D, typename V>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> widened(D d, V v) {
  if constexpr (sizeof(hwy::HWY_NAMESPACE::TFromV<V>) == sizeof(double)) {
    return v;
  } else {
    return hwy::HWY_NAMESPACE::PromoteTo(d, v);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
