// Functions of double lanes, exact enough to be rounded once to float.
// Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_KERNEL_VECTOR_DOUBLE_MATH_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_KERNEL_VECTOR_DOUBLE_MATH_H_
#undef SOFTNPU_KERNEL_VECTOR_DOUBLE_MATH_H_
#else
#define SOFTNPU_KERNEL_VECTOR_DOUBLE_MATH_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using DoubleVector = hn::Vec<Doubles>;
using Longs = hn::RebindToUnsigned<Doubles>;
using LongVector = hn::Vec<Longs>;

HWY_INLINE DoubleVector doubles(double value) { return hn::Set(Doubles(), value); }
HWY_INLINE LongVector bits_of(DoubleVector v) { return hn::BitCast(Longs(), v); }
HWY_INLINE DoubleVector of_bits(LongVector v) { return hn::BitCast(Doubles(), v); }
HWY_INLINE LongVector longs(uint64_t value) { return hn::Set(Longs(), value); }

// Adding it places the nearest integer in the low bits.
constexpr double kRounder = 0x1.8p52;

// terms[0] + terms[1] x + ...
template <size_t kTerms>
HWY_INLINE DoubleVector polynomial(DoubleVector x, const double (&terms)[kTerms]) {
  DoubleVector sum = doubles(terms[kTerms - 1]);
  for (size_t i = kTerms - 1; i-- > 0;) sum = hn::MulAdd(sum, x, doubles(terms[i]));
  return sum;
}

// Up to this many radians, subtracting multiples of the parts of pi / 2 loses nothing.
constexpr double kMostRadians = 1 << 20;

// An angle by its quarter turn, and sine and cosine of what is left of it.
struct Turned {
  LongVector quarter;
  DoubleVector sine;
  DoubleVector cosine;
};

HWY_INLINE Turned turned(DoubleVector x) {
  // Taylor's terms: below 2^-52 behind them for |x| <= pi / 4.
  constexpr double kSine[] = {
      1, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
  constexpr double kCosine[] = {1,
                                -1.0 / 2,
                                1.0 / 24,
                                -1.0 / 720,
                                1.0 / 40320,
                                -1.0 / 3628800,
                                1.0 / 479001600,
                                -1.0 / 87178291200,
                                1.0 / 20922789888000};
  // pi / 2 in parts: 33 bits, 33 bits, and the rest.
  constexpr double kParts[] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
  const DoubleVector shifted = hn::MulAdd(x, doubles(2 * std::numbers::inv_pi), doubles(kRounder));
  const DoubleVector quarters = shifted - doubles(kRounder);
  DoubleVector rest = x;
  for (const double part : kParts) rest = hn::NegMulAdd(quarters, doubles(part), rest);
  const DoubleVector square = rest * rest;
  return {bits_of(shifted), rest * polynomial(square, kSine), polynomial(square, kCosine)};
}

// Negative where bit `bit` of `quarter` is set.
template <int bit>
HWY_INLINE DoubleVector as_sign(LongVector quarter) {
  return of_bits(hn::ShiftLeft<63>(hn::ShiftRight<bit>(quarter)) | bits_of(doubles(1)));
}

HWY_INLINE DoubleVector sine_at(LongVector quarter, const Turned& at) {
  const DoubleVector of_quarter = hn::IfNegativeThenElse(as_sign<0>(quarter), at.cosine, at.sine);
  return hn::Xor(of_quarter, hn::And(as_sign<1>(quarter), hn::SignBit(Doubles())));
}

struct Sin {
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    const Turned at = turned(x);
    return sine_at(at.quarter, at);
  }
  static double scalar(double x) { return std::sin(x); }
};
struct Cos {
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    const Turned at = turned(x);
    return sine_at(at.quarter + longs(1), at);
  }
  static double scalar(double x) { return std::cos(x); }
};
struct Tan {
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    const Turned at = turned(x);
    const DoubleVector odd = as_sign<0>(at.quarter);
    return hn::IfNegativeThenElse(odd, hn::Neg(at.cosine), at.sine) / hn::IfNegativeThenElse(odd, at.sine, at.cosine);
  }
  static double scalar(double x) { return std::tan(x); }
};

struct Atan {
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    constexpr double kTerms[] = {1,        -1.0 / 3,  1.0 / 5,  -1.0 / 7,  1.0 / 9,  -1.0 / 11, 1.0 / 13, -1.0 / 15,
                                 1.0 / 17, -1.0 / 19, 1.0 / 21, -1.0 / 23, 1.0 / 25, -1.0 / 27, 1.0 / 29, -1.0 / 31};
    const DoubleVector one = doubles(1);
    const DoubleVector size = hn::Abs(x);
    const auto is_steep = size > one;
    const DoubleVector slope = hn::IfThenElse(is_steep, one / size, size);
    // Above tan(pi / 8): the angle to pi / 4.
    const auto is_wide = slope > doubles(std::numbers::sqrt2 - 1);
    const DoubleVector short_slope = hn::IfThenElse(is_wide, (slope - one) / (slope + one), slope);
    const DoubleVector near = short_slope * polynomial(short_slope * short_slope, kTerms);
    const DoubleVector angle = hn::IfThenElse(is_wide, near + doubles(std::numbers::pi / 4), near);
    return hn::CopySign(hn::IfThenElse(is_steep, doubles(std::numbers::pi / 2) - angle, angle), x);
  }
};

// The natural logarithm of positive normal numbers.
HWY_INLINE DoubleVector log_normal(DoubleVector x) {
  constexpr uint64_t kOne = uint64_t{1023} << 52;
  constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd;
  constexpr double kTerms[] = {1, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19};
  // x = 2^exponent (1 + fraction), where 1 + fraction is between sqrt(1/2) and sqrt(2).
  const LongVector biased = hn::ShiftRight<52>(bits_of(x) + longs(kOne - kRootOfHalf));
  const DoubleVector exponent = of_bits(biased | bits_of(doubles(0x1p52))) - doubles(0x1p52 + 1023);
  const DoubleVector fraction = of_bits(bits_of(x) + longs(kOne) - hn::ShiftLeft<52>(biased)) - doubles(1);
  const DoubleVector s = fraction / (fraction + doubles(2));
  const DoubleVector of_fraction = doubles(2) * (s * polynomial(s * s, kTerms));
  return hn::MulAdd(exponent, doubles(std::numbers::ln2), of_fraction);
}

HWY_INLINE DoubleVector log_any(DoubleVector x) {
  const DoubleVector infinity = doubles(std::numeric_limits<double>::infinity());
  const DoubleVector zero = hn::Zero(Doubles());
  const DoubleVector of_positive = hn::IfThenElse(x < infinity, log_normal(x), x);
  const DoubleVector of_others =
      hn::IfThenElse(x == zero, hn::Neg(infinity), doubles(std::numeric_limits<double>::quiet_NaN()));
  return hn::IfThenElse(x > zero, of_positive, of_others);
}

struct Log {
  static HWY_INLINE DoubleVector of(DoubleVector x) { return log_any(x); }
};
struct Sign {
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    const DoubleVector zero = hn::Zero(Doubles());
    return hn::IfThenElseZero(hn::Or(x > zero, x < zero), hn::CopySign(doubles(1), x));
  }
};
struct Ceil {
  static HWY_INLINE DoubleVector of(DoubleVector x) { return hn::Ceil(x); }
};
struct Floor {
  static HWY_INLINE DoubleVector of(DoubleVector x) { return hn::Floor(x); }
};
struct Round {
  static HWY_INLINE DoubleVector of(DoubleVector x) { return hn::Round(x); }
};
struct Trunc {
  static HWY_INLINE DoubleVector of(DoubleVector x) { return hn::Trunc(x); }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
