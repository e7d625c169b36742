// Powers of float32 values, and logarithms of sums of powers.

#include <cmath>
#include <limits>
#include <numbers>

#include "simd/math/functions.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/math/powers.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/math/double_lanes.h"
#include "simd/math/exp_log.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// Results above 2^160 and below 2^-160 are infinity and 0 in float32.
constexpr double kMaxExponent = 160;

// |x|^y = 2^(y log2 |x|); sign and special cases as in IEEE 754.
struct Pow {
  static HWY_INLINE DoubleVector of(DoubleVector x, DoubleVector y) {
    const DoubleVector zero = hn::Zero(Doubles());
    const DoubleVector one = doubles(1);
    const DoubleVector infinity = doubles(std::numeric_limits<double>::infinity());
    const DoubleVector size = hn::Abs(x);
    DoubleVector log = hn::IfThenElse(size < infinity, log2_normal(size), size);
    log = hn::IfThenElse(size == zero, hn::Neg(infinity), log);
    DoubleVector exponent = y * log;
    // (+-1)^(+-inf) is 1.
    exponent = hn::IfThenElse(hn::And(size == one, hn::Abs(y) == infinity), zero, exponent);
    const DoubleVector power = exp2_short(bounded(exponent, -kMaxExponent, kMaxExponent));
    const DoubleVector half = y * doubles(0.5);
    const auto is_whole = hn::Floor(y) == y;
    const auto is_odd = hn::AndNot(hn::Floor(half) == half, is_whole);
    const DoubleVector sign = hn::IfThenElseZero(is_odd, hn::And(x, hn::SignBit(Doubles())));
    const auto is_root = hn::AndNot(is_whole, hn::And(x < zero, size < infinity));
    const DoubleVector result =
        hn::IfThenElse(is_root, doubles(std::numeric_limits<double>::quiet_NaN()), hn::Xor(power, sign));
    return hn::IfThenElse(hn::Or(x == one, y == zero), one, result);
  }
};

// The maximum, and the distance of the other one; NaN if either is NaN.
struct Ordered {
  DoubleVector larger;
  DoubleVector apart;
};
HWY_INLINE Ordered ordered(DoubleVector a, DoubleVector b) {
  const DoubleVector larger = hn::IfThenElse(hn::Or(a > b, hn::IsNaN(a)), a, b);
  return {larger, hn::IfThenElse(a == b, hn::Zero(Doubles()), hn::Abs(a - b))};
}

// max(a, b) + log(1 + exp(-|a - b|)); the logarithm needs full precision if the sum cancels.
struct LogAddExp {
  static HWY_INLINE DoubleVector of(DoubleVector a, DoubleVector b) {
    const Ordered both = ordered(a, b);
    const DoubleVector exponent = both.apart * doubles(-std::numbers::log2e);
    return both.larger + log1p_positive(exp2_long(bounded(exponent, -2 * kMaxExponent, 0)));
  }
};
struct LogAddExp2 {
  static HWY_INLINE DoubleVector of(DoubleVector a, DoubleVector b) {
    const Ordered both = ordered(a, b);
    return both.larger + log2_1p_positive(exp2_long(bounded(hn::Neg(both.apart), -2 * kMaxExponent, 0)));
  }
};

struct Xlogy {
  static HWY_INLINE DoubleVector of(DoubleVector a, DoubleVector b) {
    const auto is_zero = hn::And(a == hn::Zero(Doubles()), b == b);
    return hn::IfThenZeroElse(is_zero, a * log_any(b));
  }
};

MathKernel kernel_for(MathFunction function) {
  switch (function) {
    case MathFunction::kPow: return &float_map2<Pow>;
    case MathFunction::kXlogy: return &float_map2<Xlogy>;
    case MathFunction::kLogAddExp: return &float_map2<LogAddExp>;
    case MathFunction::kLogAddExp2: return &float_map2<LogAddExp2>;
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

MathKernel power_kernel(MathFunction function) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(function);
}

}  // namespace softnpu
#endif
