// log(1 + x) of float32 values.
// Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_SIMD_MATH_LOG32_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_SIMD_MATH_LOG32_H_
#undef SOFTNPU_SIMD_MATH_LOG32_H_
#else
#define SOFTNPU_SIMD_MATH_LOG32_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "simd/math/exp32.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {

// log(1 + f) = f - f^2 / 2 + f^3 P(f) for sqrt(1/2) <= 1 + f <= sqrt(2), where P is a Chebyshev fit with a relative
// error of 2^-25. Returns the part after f.
template <typename D>
HWY_INLINE auto log1p_rest(D d, hn::Vec<D> f) {
  constexpr float kTerms[] = {0.33333331F,  -0.24999997F, 0.20000716F,  -0.16667803F, 0.14249058F,
                              -0.12425687F, 0.11685420F,  -0.11479734F, 0.069716118F};
  const auto square = f * f;
  return hn::NegMulAdd(hn::Set(d, 0.5F), square, square * f * polynomial(d, f, kTerms));
}

// log(1 + x) for -1 < x < infinity, to one and a half units in the last place. 1 + x is 2^k m, with m between the roots
// of 1/2 and 2; what the sum dropped is added to m.
template <typename D>
HWY_INLINE auto log1p32(D d, hn::Vec<D> x) {
  const hn::RebindToSigned<D> bits;
  constexpr int32_t kOne = 0x3f800000;
  constexpr int32_t kRootOfHalf = 0x3f3504f3;
  const auto one = hn::Set(d, 1.0F);
  const auto sum = one + x;
  const auto k = hn::ShiftRight<23>(hn::BitCast(bits, sum) + hn::Set(bits, kOne - kRootOfHalf)) - hn::Set(bits, 127);
  const auto exponent = hn::ShiftLeft<23>(k);
  const auto m = hn::BitCast(d, hn::BitCast(bits, sum) - exponent);
  const auto added = sum - one;
  const auto dropped = (one - (sum - added)) + (x - added);
  // 2^-k; 0 from k = 127 on, where nothing that was dropped counts.
  const auto scale = hn::BitCast(d, hn::Max(hn::Set(bits, kOne) - exponent, hn::Zero(bits)));
  const auto f = hn::MulAdd(dropped, scale, m - one);
  // log(2) in two parts; the first has 15 bits, so that its product with k is exact.
  const auto power = hn::ConvertTo(d, k);
  const auto rest = hn::MulAdd(power, hn::Set(d, 1.4286068203094172e-06F), log1p_rest(d, f));
  return hn::MulAdd(power, hn::Set(d, 0x1.62e4p-1F), f + rest);
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
