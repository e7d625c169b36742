// Hyperbolic functions of float32 values and their inverses.

#include <cmath>
#include <limits>
#include <numbers>

#include "simd/math/functions.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/math/hyperbolic.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/math/double_lanes.h"
#include "simd/math/exp_log.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// cosh and sinh of x, from those of
// rest
//  <= log(2) / 2 and of a multiple of log(2), without cancellation.
struct Hyperbolic {
  DoubleVector cosh;
  DoubleVector sinh;
};
HWY_INLINE Hyperbolic hyperbolic(DoubleVector x) {
  constexpr double kCosh[] = {1.0000000000000135, 0.4999999999943814, 0.041666667040776456, 0.0013888801714761622,
                              2.488447635159146e-05};
  constexpr double kSinh[] = {1.0000000000000013, 0.16666666666615607, 0.008333333367332009, 0.0001984119061583585,
                              2.763265575933203e-06};
  const DoubleVector size = bounded(hn::Abs(x), 0, 100);  // results beyond overflow float32
  const DoubleVector shifted = hn::MulAdd(size, doubles(std::numbers::log2e), doubles(kRounder));
  const DoubleVector rest = hn::NegMulAdd(shifted - doubles(kRounder), doubles(std::numbers::ln2), size);
  const DoubleVector square = rest * rest;
  const DoubleVector cosh = polynomial(square, kCosh);
  const DoubleVector sinh = rest * polynomial(square, kSinh);
  const LongVector power = hn::ShiftLeft<kExponentAt>(bits_of(shifted));
  const DoubleVector up = of_bits(bits_of(doubles(0.5)) + power);
  const DoubleVector down = of_bits(bits_of(doubles(0.5)) - power);
  const DoubleVector cosh_power = up + down;
  const DoubleVector sinh_power = up - down;
  return {hn::MulAdd(cosh, cosh_power, sinh * sinh_power), hn::MulAdd(cosh, sinh_power, sinh * cosh_power)};
}

struct Sinh {
  static HWY_INLINE DoubleVector of(DoubleVector x) { return hn::CopySign(hyperbolic(x).sinh, x); }
};
struct Cosh {
  static HWY_INLINE DoubleVector of(DoubleVector x) { return hyperbolic(x).cosh; }
};

// v where x is finite, else x (infinity or NaN).
HWY_INLINE DoubleVector of_finite(DoubleVector x, DoubleVector v) {
  return hn::IfThenElse(x < doubles(std::numeric_limits<double>::infinity()), v, x);
}

struct Asinh {
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    const DoubleVector size = hn::Abs(x);
    const DoubleVector square = size * size;
    const DoubleVector beyond = size + square / (hn::Sqrt(square + doubles(1)) + doubles(1));
    return hn::CopySign(of_finite(size, log1p_positive(beyond)), x);
  }
};
struct Acosh {
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    const DoubleVector beyond = x - doubles(1);
    const DoubleVector root = hn::Sqrt(beyond * (beyond + doubles(2)));
    const DoubleVector of_x = of_finite(x, log1p_positive(beyond + root));
    return hn::IfThenElse(x < doubles(1), doubles(std::numeric_limits<double>::quiet_NaN()), of_x);
  }
};

struct Atanh {
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    const DoubleVector one = doubles(1);
    const DoubleVector size = hn::Abs(x);
    const DoubleVector area = half_log_of_quotient(one + size, one - size, size);
    const DoubleVector infinity = doubles(std::numeric_limits<double>::infinity());
    const DoubleVector outside = doubles(std::numeric_limits<double>::quiet_NaN());
    const DoubleVector beyond = hn::IfThenElse(size == one, infinity, outside);
    return hn::CopySign(hn::IfThenElse(size < one, area, beyond), x);
  }
};

MathKernel kernel_for(MathFunction function) {
  switch (function) {
    case MathFunction::kSinh: return &float_map1<Sinh>;
    case MathFunction::kCosh: return &float_map1<Cosh>;
    case MathFunction::kAsinh: return &float_map1<Asinh>;
    case MathFunction::kAcosh: return &float_map1<Acosh>;
    case MathFunction::kAtanh: return &float_map1<Atanh>;
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

MathKernel hyperbolic_kernel(MathFunction function) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(function);
}

}  // namespace softnpu
#endif
