// The exponential of float32 values.
// Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_SIMD_MATH_EXP32_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_SIMD_MATH_EXP32_H_
#undef SOFTNPU_SIMD_MATH_EXP32_H_
#else
#define SOFTNPU_SIMD_MATH_EXP32_H_
#endif

#include <hwy/highway.h>

#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename D, size_t kTerms>
HWY_INLINE auto polynomial(D d, hn::Vec<D> x, const float (&terms)[kTerms]) {
  auto sum = hn::Set(d, terms[kTerms - 1]);
  for (size_t i = kTerms - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, terms[i]));
  return sum;
}

// exp in float32 for -87 <= x <= 88: 2^n times a polynomial of the remainder, a Chebyshev fit with a relative error of
// 2^-28. Adding 1.5 * 2^23 places n in the low bits. `lost` is added to x: digits that x has no place for.
template <typename D>
HWY_INLINE auto exp32(D d, hn::Vec<D> x, hn::Vec<D> lost) {
  constexpr float kTerms[] = {1.0F,
                              1.0000000377388714F,
                              0.5000000047146057F,
                              0.16666415414041177F,
                              0.04166635277111221F,
                              0.008375134774624326F,
                              0.0013941118895837F};
  const hn::RebindToUnsigned<D> bits;
  const auto rounder = hn::Set(d, 0x1.8p23F);
  const auto shifted = hn::MulAdd(x, hn::Set(d, std::numbers::log2e_v<float>), rounder);
  const auto n = shifted - rounder;
  // log(2) in two parts; the first has 15 bits.
  const auto most = hn::NegMulAdd(n, hn::Set(d, 0x1.62e4p-1F), x);
  const auto rest = hn::NegMulAdd(n, hn::Set(d, 1.4286068203094172e-06F), most) + lost;
  const auto power = polynomial(d, rest, kTerms);
  return hn::BitCast(d, hn::BitCast(bits, power) + hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
}
template <typename D>
HWY_INLINE auto exp32(D d, hn::Vec<D> x) {
  return exp32(d, x, hn::Zero(d));
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
