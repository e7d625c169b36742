// Activations of float32 values that are built from exponentials, and their gradients.

#include <cmath>
#include <limits>
#include <numbers>

#include "simd/math/functions.h"
#include "simd/math/scalar_math.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/math/activations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/math/double_lanes.h"
#include "simd/math/exp_log.h"
#include "simd/math/float_lanes.h"
#include "simd/math/log32.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// exp(x); 0 below -500 and about e^500 above 500, where float32 results are 0 and infinity.
HWY_INLINE DoubleVector exp_all(DoubleVector x) {
  return hn::IfThenZeroElse(x < doubles(-500), exp_short(bounded(x, -500, 500)));
}

// The same, but infinite above 500: for factors, not for quotients.
HWY_INLINE DoubleVector exp_unbounded(DoubleVector x) {
  return hn::IfThenElse(x > doubles(500), doubles(std::numeric_limits<double>::infinity()), exp_all(x));
}

// exp(-x) is a normal number in float32 up to here.
constexpr float kDeepest = 87;

// log(1 + exp(-|x|))
HWY_INLINE DoubleVector log1p_exp(DoubleVector x) {
  return log1p_positive(exp2_long(bounded(hn::Abs(x) * doubles(-std::numbers::log2e), -500, 0)));
}

// max(a, 0); NaN stays.
HWY_INLINE DoubleVector positive_part(DoubleVector a) {
  return hn::IfThenElse(a < hn::Zero(Doubles()), hn::Zero(Doubles()), a);
}

struct Log1p {
  static HWY_INLINE auto suits(const float*, FullFloatVector x) {
    return hn::And(x > floats(-1), x <= floats(std::numeric_limits<float>::max()));
  }
  static HWY_INLINE FullFloatVector near(const float*, FullFloatVector x) {
    return hn::CopySign(log1p32(FullFloats(), x), x);
  }
  static HWY_INLINE FullFloatVector others(const float*, FullFloatVector x) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const FullFloatVector rest = hn::IfThenElse(x > floats(0), x, floats(std::numeric_limits<float>::quiet_NaN()));
    return hn::IfThenElse(x == floats(-1), floats(-kInfinity), rest);
  }
};

// A product in float32, and what it lost by rounding.
struct NearProduct {
  FullFloatVector size;
  FullFloatVector lost;
};
HWY_INLINE NearProduct near_product(FullFloatVector a, float factor) {
  const FullFloatVector size = a * floats(factor);
  return {size, hn::MulSub(a, floats(factor), size)};
}

// log(1 + exp(-|x|)) in float32, with 0 for the exponential beyond exp32's domain.
HWY_INLINE FullFloatVector near_log1p_exp(NearProduct x) {
  constexpr FullFloats d;
  const FullFloatVector depth = hn::Abs(x.size);
  const FullFloatVector sign = hn::And(x.size, hn::SignBit(d));
  const FullFloatVector power = exp32(d, hn::Neg(hn::Min(depth, floats(kDeepest))), hn::Neg(hn::Xor(x.lost, sign)));
  return log1p32(d, hn::IfThenElseZero(depth <= floats(kDeepest), power));
}

struct LogSigmoid {
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    const DoubleVector negative_part = hn::IfThenElse(x > hn::Zero(Doubles()), hn::Zero(Doubles()), x);
    return negative_part - log1p_exp(x);
  }
  static HWY_INLINE auto suits(const float*, FullFloatVector x) { return hn::Abs(x) <= floats(kDeepest); }
  static HWY_INLINE FullFloatVector near(const float*, FullFloatVector x) {
    return hn::Min(x, floats(0)) - near_log1p_exp({x, floats(0)});
  }
};

struct Softplus {
  static HWY_INLINE DoubleVector of(DoubleVector a, const float* k) {
    const DoubleVector x = a * doubles(k[0]);
    const DoubleVector curved = (positive_part(x) + log1p_exp(x)) * doubles(1 / static_cast<double>(k[0]));
    return hn::IfThenElse(x > doubles(k[1]), a, curved);
  }
  static HWY_INLINE auto suits(const float* k, FullFloatVector a) {
    return hn::Abs(a * floats(k[0])) <= floats(kDeepest);
  }
  static HWY_INLINE FullFloatVector near(const float* k, FullFloatVector a) {
    const NearProduct x = near_product(a, k[0]);
    const FullFloatVector curved = (hn::Max(x.size, floats(0)) + near_log1p_exp(x)) / floats(k[0]);
    return hn::IfThenElse(x.size > floats(k[1]), a, curved);
  }
};
struct SoftplusBackward {
  static HWY_INLINE DoubleVector of(DoubleVector g, DoubleVector a, const float* k) {
    const DoubleVector x = a * doubles(k[0]);
    const DoubleVector curved = g / (doubles(1) + exp_all(hn::Neg(x)));
    return hn::IfThenElse(x > doubles(k[1]), g, curved);
  }
  static HWY_INLINE auto suits(const float* k, FullFloatVector, FullFloatVector a) {
    return hn::Abs(a * floats(k[0])) <= floats(kDeepest);
  }
  static HWY_INLINE FullFloatVector near(const float* k, FullFloatVector g, FullFloatVector a) {
    const NearProduct x = near_product(a, k[0]);
    const FullFloatVector curved = g / (floats(1) + exp32(FullFloats(), hn::Neg(x.size), hn::Neg(x.lost)));
    return hn::IfThenElse(x.size > floats(k[1]), g, curved);
  }
};

// exp(x) - 1: a polynomial near 0, where the difference would cancel.
HWY_INLINE DoubleVector expm1_all(DoubleVector x) {
  constexpr double kTerms[] = {0.9999999999155186,     0.49999999999155825,  0.16666667747951538,
                               0.041666667747145766,   0.008333117159188563, 0.0013888672862062655,
                               0.00019979487837063834, 2.493973330013098e-05};
  const DoubleVector far = exp_unbounded(x) - doubles(1);
  return hn::IfThenElse(hn::Abs(x) < doubles(0.5), x * polynomial(x, kTerms), far);
}

struct Elu {
  static HWY_INLINE DoubleVector of(DoubleVector a, const float* k) {
    const DoubleVector below = expm1_all(a * doubles(k[2])) * doubles(k[0] * k[1]);
    return hn::IfThenElse(a < hn::Zero(Doubles()), below, a * doubles(k[1]));
  }
};
struct EluBackward {
  static HWY_INLINE DoubleVector of(DoubleVector g, DoubleVector x, const float* k) {
    const DoubleVector below = g * doubles(k[2] * k[0] * k[1]) * exp_unbounded(x * doubles(k[2]));
    return hn::IfThenElse(x <= hn::Zero(Doubles()), below, g * doubles(k[1]));
  }
  static HWY_INLINE auto suits(const float* k, FullFloatVector, FullFloatVector a) {
    return hn::Abs(a * floats(k[2])) <= floats(kDeepest);
  }
  static HWY_INLINE FullFloatVector near(const float* k, FullFloatVector g, FullFloatVector x) {
    const NearProduct power = near_product(x, k[2]);
    const auto factor = static_cast<float>(static_cast<double>(k[0]) * k[1] * k[2]);
    const FullFloatVector below = g * floats(factor) * exp32(FullFloats(), power.size, power.lost);
    return hn::IfThenElse(x <= floats(0), below, g * floats(k[1]));
  }
};

// tanh(log(1 + e)) is n / (n + 2), where n = (1 + e)^2 - 1.
struct Mish {
  static HWY_INLINE DoubleVector of(DoubleVector a) {
    const DoubleVector e = exp_all(bounded(a, -1000, kFlat));
    const DoubleVector n = e * (e + doubles(2));
    return a * (n / (n + doubles(2)));
  }
  // From here on the tanh is 1.
  static constexpr double kFlat = 50;
};
struct MishBackward {
  static HWY_INLINE DoubleVector of(DoubleVector g, DoubleVector x) {
    const DoubleVector e = exp_all(bounded(x, -1000, Mish::kFlat));
    const DoubleVector n = e * (e + doubles(2));
    const DoubleVector slope = doubles(4) * x * e * (e + doubles(1));
    const DoubleVector below = n + doubles(2);
    const DoubleVector curved = g * (hn::MulAdd(n, below, slope) / (below * below));
    return hn::IfThenElse(x > doubles(20), g, curved);
  }
};

struct GeluTanhBackward {
  static HWY_INLINE DoubleVector of(DoubleVector g, DoubleVector x) {
    const DoubleVector one = doubles(1);
    const DoubleVector half = doubles(0.5);
    const DoubleVector square = x * x;
    const DoubleVector inner = x * hn::MulAdd(square, doubles(kGeluScale * kGeluCube), doubles(kGeluScale));
    const DoubleVector e = exp_all(inner + inner);
    const DoubleVector t = (e - one) / (e + one);
    const DoubleVector slope = hn::MulAdd(square, doubles(3 * kGeluScale * kGeluCube), doubles(kGeluScale));
    const DoubleVector cdf = hn::MulAdd(half, t, half);
    return g * hn::MulAdd(half * x * slope, hn::NegMulAdd(t, t, one), cdf);
  }
};

// log(a / (1 - a)) with a clamped to [k0, 1 - k0] if k0 is not negative.
struct Logit {
  static HWY_INLINE DoubleVector of(DoubleVector a, const float* k) {
    const DoubleVector zero = hn::Zero(Doubles());
    const DoubleVector one = doubles(1);
    const DoubleVector infinity = doubles(std::numeric_limits<double>::infinity());
    const DoubleVector x = k[0] < 0 ? a : bounded(a, k[0], 1 - k[0]);
    const DoubleVector rest = one - x;
    const DoubleVector more = hn::Max(x, rest);
    const DoubleVector less = hn::Min(x, rest);
    const DoubleVector size = doubles(2) * half_log_of_quotient(more, less, more - less);
    const DoubleVector inside = hn::IfThenElse(
        less > zero, size, hn::IfThenElse(less == zero, infinity, doubles(std::numeric_limits<double>::quiet_NaN())));
    return hn::IfThenElse(x < rest, hn::Neg(inside), inside);
  }
};

MathKernel kernel_for(MathFunction function) {
  switch (function) {
    case MathFunction::kLog1p: return &near_map1<Log1p>;
    case MathFunction::kMish: return &float_map1<Mish>;
    case MathFunction::kSoftplus: return &near_map1<Softplus>;
    case MathFunction::kElu: return &float_map1<Elu>;
    case MathFunction::kLogSigmoid: return &near_map1<LogSigmoid>;
    case MathFunction::kLogit: return &float_map1<Logit>;
    case MathFunction::kMishBackward: return &float_map2<MishBackward>;
    case MathFunction::kSoftplusBackward: return &near_map2<SoftplusBackward>;
    case MathFunction::kEluBackward: return &near_map2<EluBackward>;
    case MathFunction::kGeluTanhBackward: return &float_map2<GeluTanhBackward>;
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

MathKernel activation_kernel(MathFunction function) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(function);
}

}  // namespace softnpu
#endif
