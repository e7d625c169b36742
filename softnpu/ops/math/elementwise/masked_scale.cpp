#include "ops/math/elementwise/masked_scale.h"

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/elementwise/masked_scale.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename D>
HWY_INLINE hn::Vec<D> load(D d, const float* from) {
  return hn::LoadU(d, from);
}

template <typename D>
HWY_INLINE hn::Vec<D> load(D d, const uint8_t* from) {
  const hn::Rebind<uint8_t, D> bytes;
  const hn::Rebind<int32_t, D> integers;
  return hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, from)));
}

template <typename D, typename Mask>
HWY_INLINE void one_vector(D d, const float* x, const Mask* mask, float scale, float* out) {
  hn::StoreU(hn::LoadU(d, x) * load(d, mask) * hn::Set(d, scale), d, out);
}

template <typename Mask>
HWY_INLINE void scale_all(const float* x, const Mask* mask, float scale, size_t count, float* out) {
  const hn::ScalableTag<float> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) one_vector(d, x + i, mask + i, scale, out + i);
  for (; i < count; ++i) one_vector(hn::CappedTag<float, 1>(), x + i, mask + i, scale, out + i);
}

void by_bytes(const float* x, const uint8_t* mask, float scale, size_t count, float* out) {
  scale_all(x, mask, scale, count, out);
}

void by_floats(const float* x, const float* mask, float scale, size_t count, float* out) {
  scale_all(x, mask, scale, count, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(by_bytes);
HWY_EXPORT(by_floats);

}  // namespace

void masked_scale(const float* x, const uint8_t* mask, float scale, size_t count, float* out) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(by_bytes)(x, mask, scale, count, out);
}

void masked_scale(const float* x, const float* mask, float scale, size_t count, float* out) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(by_floats)(x, mask, scale, count, out);
}

}  // namespace softnpu
#endif
