// Trigonometric functions of float32 values.

#include <cmath>
#include <limits>
#include <numbers>

#include "simd/math/functions.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/math/trigonometry.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/math/double_lanes.h"
#include "simd/math/exp_log.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// Up to this many quarter turns, subtracting multiples of the parts of pi / 2 is exact.
constexpr double kMaxQuarters = 1 << 20;

// Selects by the sign bit, which -0 has too.
HWY_INLINE DoubleVector if_signed(DoubleVector v, DoubleVector yes, DoubleVector no) {
  return hn::IfNegativeThenElse(hn::CopySign(doubles(1), v), yes, no);
}

struct Tan {
  static HWY_INLINE auto holds(DoubleVector x) { return hn::Abs(x) <= doubles(kMaxQuarters); }
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    constexpr double kTerms[] = {1.0000000000823506,    0.3333333117437354,     0.1333342591656479,
                                 0.053953077404342305,  0.0219929714957679,     0.008306290029191747,
                                 0.0050359199189627234, -0.0006352547936914708, 0.0020559717400195927};
    // pi / 2 in parts: 33 bits, 33 bits, and the rest.
    constexpr double kParts[] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
    const DoubleVector size = hn::Abs(x);
    const DoubleVector shifted = hn::MulAdd(size, doubles(2 * std::numbers::inv_pi), doubles(kRounder));
    const DoubleVector quarters = shifted - doubles(kRounder);
    DoubleVector rest = size;
    for (const double part : kParts) rest = hn::NegMulAdd(quarters, doubles(part), rest);
    const DoubleVector tan = rest * polynomial(rest * rest, kTerms);
    const DoubleVector odd_as_sign = of_bits(hn::ShiftLeft<63>(bits_of(shifted)));
    const DoubleVector of_size = if_signed(odd_as_sign, doubles(-1) / tan, tan);
    return hn::Xor(of_size, hn::And(x, hn::SignBit(Doubles())));
  }
  static float scalar(float x) { return static_cast<float>(std::tan(static_cast<double>(x))); }
};

// sin(pi x) / (pi x)
struct Sinc {
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    constexpr double kTerms[] = {3.141592653589635,   -5.167712779987959,    2.550164035906745,    -0.5992644339357286,
                                 0.08214479467064854, -0.007364005472115722, 0.0004474920849077101};
    const DoubleVector nearest = hn::Round(x);
    const DoubleVector rest = x - nearest;  // exact
    const DoubleVector half = nearest * doubles(0.5);
    const DoubleVector sine = rest * polynomial(rest * rest, kTerms);
    const DoubleVector angle = x * doubles(std::numbers::pi);
    const auto is_angle = hn::Abs(angle) <= doubles(std::numeric_limits<float>::max());
    const DoubleVector signed_sine = hn::IfThenElse(hn::Round(half) == half, sine, hn::Neg(sine));
    // As in PyTorch, where the angle overflows.
    const DoubleVector outside = doubles(std::numeric_limits<double>::quiet_NaN());
    const DoubleVector of_x = hn::IfThenElse(is_angle, signed_sine / angle, outside);
    return hn::IfThenElse(x == hn::Zero(Doubles()), doubles(1), of_x);
  }
};

// The angle of the point (x, y): computed for the shorter side over the longer one, then moved to its quadrant.
struct Atan2 {
  static HWY_INLINE DoubleVector of(DoubleVector y, DoubleVector x) {
    constexpr double kTerms[] = {
        0.9999999999887381,   -0.3333333295165722,    0.19999978336217084,   -0.1428522560816021, 0.11105306732424464,
        -0.09049179093720577, 0.07495262378099696,    -0.06022196387937433,  0.04364658944281667, -0.02600599597760862,
        0.011427633277375594, -0.0031954252407363944, 0.00041922786011272897};
    const DoubleVector width = hn::Abs(x);
    const DoubleVector height = hn::Abs(y);
    const auto is_steep = height > width;
    const DoubleVector longer = hn::IfThenElse(is_steep, height, width);
    const DoubleVector shorter = hn::IfThenElse(is_steep, width, height);
    // Two zeros and two infinities have no quotient.
    const DoubleVector of_same = hn::IfThenZeroElse(longer == hn::Zero(Doubles()), doubles(1));
    const DoubleVector slope = hn::IfThenElse(shorter == longer, of_same, shorter / longer);
    const DoubleVector near = slope * polynomial(slope * slope, kTerms);
    const DoubleVector right = hn::IfThenElse(is_steep, doubles(std::numbers::pi / 2) - near, near);
    const DoubleVector turned = if_signed(x, doubles(std::numbers::pi) - right, right);
    return hn::CopySign(turned, y);
  }
};

MathKernel kernel_for(MathFunction function) {
  switch (function) {
    case MathFunction::kTan: return &float_map1<Tan>;
    case MathFunction::kSinc: return &float_map1<Sinc>;
    case MathFunction::kAtan2: return &float_map2<Atan2>;
    default: return nullptr;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(kernel_for);

}  // namespace

MathKernel trigonometry_kernel(MathFunction function) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(function);
}

}  // namespace softnpu
#endif
