// Exact remainders of float32 values, and the corresponding quotients.

#include <cmath>
#include <limits>
#include <numbers>

#include "simd/math/functions.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/math/remainders.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/math/double_lanes.h"
#include "simd/math/exp_log.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// A quotient below 2^28 is at least 2^-24 away from the next integer, so that it does not round up to it. Its product
// with the divisor is exact, and so is the remainder.
struct Fmod {
  static HWY_INLINE auto holds(DoubleVector a, DoubleVector b) { return hn::Abs(a / b) < doubles(1 << 28); }
  static HWY_INLINE DoubleVector of(DoubleVector a, DoubleVector b) {
    const DoubleVector quotient = hn::Trunc(a / b);
    const DoubleVector rest = hn::NegMulAdd(quotient, b, a);
    return hn::CopySign(hn::IfThenElse(quotient == hn::Zero(Doubles()), a, rest), a);
  }
  static float scalar(float a, float b) { return std::fmod(a, b); }
};

struct Remainder : Fmod {
  static HWY_INLINE FloatVector finish(FloatVector rest, FloatVector, FloatVector b) {
    const FloatVector zero = hn::Zero(Floats());
    const auto is_other_sign = hn::AndNot(rest == zero, hn::Xor(rest < zero, b < zero));
    return hn::IfThenElse(is_other_sign, rest + b, rest);
  }
  static float scalar(float a, float b) {
    const float rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
};

// The quotient as in ATen: computed from the remainder, with a division in float32.
struct FloorDivide : Fmod {
  static HWY_INLINE FloatVector finish(FloatVector rest, FloatVector a, FloatVector b) {
    const FloatVector zero = hn::Zero(Floats());
    const FloatVector one = hn::Set(Floats(), 1.0F);
    const FloatVector quotient = a / b;
    FloatVector exact = (a - rest) / b;
    const auto is_other_sign = hn::AndNot(rest == zero, hn::Xor(rest < zero, b < zero));
    exact = hn::IfThenElse(is_other_sign, exact - one, exact);
    const FloatVector below = hn::Floor(exact);
    const FloatVector whole = hn::IfThenElse(exact - below > hn::Set(Floats(), 0.5F), below + one, below);
    return hn::IfThenElse(b == zero, quotient, hn::IfThenElse(exact == zero, hn::CopySign(zero, quotient), whole));
  }
  static float scalar(float a, float b) {
    if (b == 0) return a / b;
    const float rest = std::fmod(a, b);
    float exact = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) exact -= 1;
    if (exact == 0) return std::copysign(0.0F, a / b);
    const float below = std::floor(exact);
    return exact - below > 0.5F ? below + 1 : below;
  }
};

MathKernel kernel_for(MathFunction function) {
  switch (function) {
    case MathFunction::kFmod: return &float_map2<Fmod>;
    case MathFunction::kRemainder: return &float_map2<Remainder>;
    case MathFunction::kFloorDivide: return &float_map2<FloorDivide>;
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

MathKernel remainder_kernel(MathFunction function) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(function);
}

}  // namespace softnpu
#endif
