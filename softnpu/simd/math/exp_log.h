// Exponentials and logarithms in vectors of doubles. Polynomials are Chebyshev fits to the functions themselves; the
// stated relative errors are those of the fits alone.
// Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_SIMD_MATH_EXP_LOG_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_SIMD_MATH_EXP_LOG_H_
#undef SOFTNPU_SIMD_MATH_EXP_LOG_H_
#else
#define SOFTNPU_SIMD_MATH_EXP_LOG_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>
#include <numbers>

#include "simd/math/double_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {

using Longs = hn::RebindToUnsigned<Doubles>;
using LongVector = hn::Vec<Longs>;

HWY_INLINE LongVector bits_of(DoubleVector v) { return hn::BitCast(Longs(), v); }
HWY_INLINE DoubleVector of_bits(LongVector v) { return hn::BitCast(Doubles(), v); }
HWY_INLINE LongVector longs(uint64_t value) { return hn::Set(Longs(), value); }

// Adding it places the nearest integer in the low bits, 12 of which become a power of two's exponent.
inline constexpr double kRounder = 0x1.8p52;
inline constexpr int kExponentAt = 52;

// The bits of 2^52: with an integer below 2^52 in its low bits it is 2^52 plus that integer.
inline constexpr uint64_t kTwoTo52 = 0x4330000000000000;

// 2^n v, where `shifted` is n + kRounder; must not overflow. NaN stays NaN.
HWY_INLINE DoubleVector scaled(DoubleVector v, DoubleVector shifted) {
  return of_bits(bits_of(v) + hn::ShiftLeft<kExponentAt>(bits_of(shifted)));
}

// v clamped to [low, high]. NaN stays NaN, which no argument order of Min and Max ensures on all machines.
HWY_INLINE DoubleVector bounded(DoubleVector v, double low, double high) {
  const DoubleVector below = hn::IfThenElse(v > doubles(high), doubles(high), v);
  return hn::IfThenElse(below < doubles(low), doubles(low), below);
}

// 2^x for |x| < 1000, with a relative error of 2^-34.
HWY_INLINE DoubleVector exp2_short(DoubleVector x) {
  constexpr double kTerms[] = {0.9999999999595618,     0.6931471805568324,    0.24022651213498092,
                               0.055504109063258665,   0.009618025613318034,  0.0013333478473685416,
                               0.00015469729214118296, 1.5303700711365693e-05};
  const DoubleVector shifted = x + doubles(kRounder);
  return scaled(polynomial(x - (shifted - doubles(kRounder)), kTerms), shifted);
}

// The same with a relative error of 2^-44, and exactly 1 at 0.
HWY_INLINE DoubleVector exp2_long(DoubleVector x) {
  constexpr double kTerms[] = {1.0,
                               0.6931471805599462,
                               0.2402265069564034,
                               0.05550410866465167,
                               0.009618129193934313,
                               0.0013333558200794592,
                               0.0001540343375125101,
                               1.5252672924850737e-05,
                               1.325964524488711e-06,
                               1.0205905413765595e-07};
  const DoubleVector shifted = x + doubles(kRounder);
  return scaled(polynomial(x - (shifted - doubles(kRounder)), kTerms), shifted);
}

// exp(x) for |x| < 690, with a relative error of 2^-34.
HWY_INLINE DoubleVector exp_short(DoubleVector x) { return exp2_short(x * doubles(std::numbers::log2e)); }

// atanh(s) for |s| <= 3 - 2 sqrt(2), with a relative error of 2^-45.
HWY_INLINE DoubleVector atanh_near_zero(DoubleVector s) {
  constexpr double kTerms[] = {0.9999999999999736, 0.333333333398,      0.1999999744262267,
                               0.1428608343131969, 0.11087109290598839, 0.09804284454879308};
  return s * polynomial(s * s, kTerms);
}

// x = 2^exponent (1 + fraction), where 1 + fraction is between sqrt(1/2) and sqrt(2).
struct Split {
  DoubleVector exponent;
  DoubleVector fraction;
};

// For positive normal numbers; unspecified for others.
HWY_INLINE Split split(DoubleVector x) {
  constexpr uint64_t kOne = uint64_t{1023} << kExponentAt;
  constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd;
  const LongVector biased = hn::ShiftRight<kExponentAt>(bits_of(x) + longs(kOne - kRootOfHalf));
  const DoubleVector exponent = of_bits(biased | longs(kTwoTo52)) - doubles(0x1p52 + 1023);
  const LongVector mantissa = bits_of(x) + longs(kOne) - hn::ShiftLeft<kExponentAt>(biased);
  return {exponent, of_bits(mantissa) - doubles(1)};
}

// a / b with a relative error of 2^-46, where b is a normal number in float32: a float32 division is much faster.
HWY_INLINE DoubleVector short_quotient(DoubleVector a, DoubleVector b) {
  const DoubleVector near = widened(hn::Set(Floats(), 1.0F) / narrowed(b));
  return a * hn::MulAdd(near, hn::NegMulAdd(near, b, doubles(1)), near);
}

// log(1 + f) / 2, where f is a Split's fraction.
HWY_INLINE DoubleVector half_log_of_fraction(DoubleVector f) {
  return atanh_near_zero(short_quotient(f, f + doubles(2)));
}

// For positive normal numbers.
HWY_INLINE DoubleVector log_normal(DoubleVector x) {
  const Split at = split(x);
  return hn::MulAdd(at.exponent, doubles(std::numbers::ln2), doubles(2) * half_log_of_fraction(at.fraction));
}
HWY_INLINE DoubleVector log2_normal(DoubleVector x) {
  const Split at = split(x);
  return hn::MulAdd(half_log_of_fraction(at.fraction), doubles(2 * std::numbers::log2e), at.exponent);
}

// The split of 1 + t, t > -1, which keeps the digits of t that the sum drops.
HWY_INLINE Split split_1p(DoubleVector t) {
  const Split at = split(doubles(1) + t);
  return {at.exponent, hn::IfThenElse(at.exponent == hn::Zero(Doubles()), t, at.fraction)};
}

// log(1 + t) for a finite t > -1 with few digits, with a small relative error.
HWY_INLINE DoubleVector log1p_positive(DoubleVector t) {
  const Split at = split_1p(t);
  return hn::MulAdd(at.exponent, doubles(std::numbers::ln2), doubles(2) * half_log_of_fraction(at.fraction));
}
HWY_INLINE DoubleVector log2_1p_positive(DoubleVector t) {
  const Split at = split_1p(t);
  return hn::MulAdd(half_log_of_fraction(at.fraction), doubles(2 * std::numbers::log2e), at.exponent);
}

// log(more / less) / 2 for more >= less > 0, with a relative error of 2^-42: the quotient is first scaled by about 2^n,
// so that one division is enough. `ratio` is (more - less) / (more + less), which the caller may know more exactly.
HWY_INLINE DoubleVector half_log_of_quotient(DoubleVector more, DoubleVector less, DoubleVector ratio) {
  // atanh(sqrt(z)) / sqrt(z) for z <= 0.0414
  constexpr double kTerms[] = {0.9999999999997887, 0.33333333370057294, 0.19999989680839395,
                               0.1428677178463193, 0.11062364196392066, 0.10114623279206368};
  // A number's bits approximate its logarithm, to 0.09, which is enough.
  const LongVector half = longs(uint64_t{1} << (kExponentAt - 1));
  const LongVector power = hn::ShiftRight<kExponentAt>(bits_of(more) - bits_of(less) + half);
  const DoubleVector n = of_bits(power | longs(kTwoTo52)) - doubles(0x1p52);
  const DoubleVector near = less * of_bits(hn::ShiftLeft<kExponentAt>(power) + bits_of(doubles(1)));
  const DoubleVector s = hn::IfThenElse(n == hn::Zero(Doubles()), ratio, (more - near) / (more + near));
  return hn::MulAdd(n, doubles(std::numbers::ln2 / 2), s * polynomial(s * s, kTerms));
}

// log(x) of any number converted from float32.
HWY_INLINE DoubleVector log_any(DoubleVector x) {
  const DoubleVector infinity = doubles(std::numeric_limits<double>::infinity());
  const DoubleVector zero = hn::Zero(Doubles());
  const DoubleVector of_positive = hn::IfThenElse(x < infinity, log_normal(x), x);
  const DoubleVector of_others =
      hn::IfThenElse(x == zero, hn::Neg(infinity), doubles(std::numeric_limits<double>::quiet_NaN()));
  return hn::IfThenElse(x > zero, of_positive, of_others);
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
