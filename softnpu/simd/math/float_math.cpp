// Functions of float32 values by float32 polynomials; lanes outside of their domain use libm.

#include <cmath>
#include <limits>
#include <numbers>

#include "simd/math/functions.h"
#include "simd/math/scalar_math.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/math/float_math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "simd/math/exp32.h"
#include "simd/math/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// 2^x as in exp32, with a relative error of 2^-34 and an exact remainder.
struct Exp2 {
  static HWY_INLINE auto holds(auto d, auto x) { return lies_in(d, x, -125, 127); }
  static HWY_INLINE auto vector(auto d, auto x) {
    constexpr float kTerms[] = {0.9999999999595618F,     0.6931471805568324F,    0.24022651213498092F,
                                0.055504109063258665F,   0.009618025613318034F,  0.0013333478473685416F,
                                0.00015469729214118296F, 1.5303700711365693e-05F};
    const hn::RebindToUnsigned<decltype(d)> bits;
    const auto rounder = hn::Set(d, 0x1.8p23F);
    const auto shifted = x + rounder;
    const auto power = polynomial(d, x - (shifted - rounder), kTerms);
    return hn::BitCast(d, hn::BitCast(bits, power) + hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
  }
  static float scalar(float x) { return std::exp2(x); }
};

// tanh in float32: x + x^3 P(x^2) up to 5/8, P a Chebyshev fit with a relative error of 2^-27, and 1 - 2 / (exp(2x) +
// 1) beyond.
template <typename D>
HWY_INLINE auto tanh32(D d, hn::Vec<D> x) {
  constexpr float kTerms[] = {-0.3333333317214036F, 0.1333330355691574F,    -0.053959259577204544F,
                              0.02176891865102821F, -0.008343945515839153F, 0.002292744816178142F};
  const auto one = hn::Set(d, 1.0F);
  const auto size = hn::Min(hn::Abs(x), hn::Set(d, 9.5F));  // from here on the result is 1 in float32
  const auto square = size * size;
  const auto near = hn::MulAdd(size * square, polynomial(d, square, kTerms), size);
  const auto far = one - hn::Set(d, 2.0F) / (exp32(d, size + size) + one);
  return hn::CopySign(hn::IfThenElse(size < hn::Set(d, 0.625F), near, far), x);
}

struct Tanh {
  static HWY_INLINE auto holds(auto, auto v) { return v == v; }
  static HWY_INLINE auto vector(auto d, auto v) { return tanh32(d, v); }
  static float scalar(float nan) { return nan; }
};

// erf in float32 for size >= 0, where `gaussian` is exp(-size^2): size P(size^2) below 1, with a relative error of
// 2e-7; 1 - gaussian Q(1 / (1 + size / 2)) beyond, with an absolute error of 8e-8. P and Q are Chebyshev fits to the
// functions themselves.
template <typename D>
HWY_INLINE auto erf_of_size(D d, hn::Vec<D> size, hn::Vec<D> gaussian) {
  constexpr float kNear[] = {1.128379225730896F,      -0.37612637877464294F,    0.11283791065216064F,
                             -0.026866134256124496F,  0.005223785061389208F,    -0.0008542670402675867F,
                             0.00011956945672864094F, -1.3911695532442536e-05F, 1.0595263120194431e-06F};
  constexpr float kFar[] = {2.552686601120513e-05F, 0.2814987003803253F,   0.2883491516113281F,  0.2080260068178177F,
                            0.33374911546707153F,   -0.35089531540870667F, 0.8146323561668396F,  -1.0724669694900513F,
                            0.6867645382881165F,    -0.216050922870636F,   0.026359722018241882F};
  const auto one = hn::Set(d, 1.0F);
  const auto near = size * polynomial(d, size * size, kNear);
  const auto t = one / hn::MulAdd(size, hn::Set(d, 0.5F), one);
  const auto far = hn::NegMulAdd(gaussian, polynomial(d, t, kFar), one);
  return hn::IfThenElse(size < one, near, far);
}

template <typename D>
HWY_INLINE auto erf32(D d, hn::Vec<D> x) {
  const auto size = hn::Min(hn::Abs(x), hn::Set(d, 4.5F));  // from here on the result is 1 in float32
  return hn::CopySign(erf_of_size(d, size, exp32(d, hn::Neg(size * size))), x);
}

// The arcsine of size = abs(x) up to 3/4, else that of sqrt((1 - size) / 2), which is half of the complementary angle.
// The polynomial is a Chebyshev fit to (asin(s) - s) / s^3 as a
// function of s^2, with a relative error of 2^-27.
template <typename D>
struct ArcSine {
  hn::Vec<D> arc;
  hn::Mask<D> is_half;

  HWY_INLINE ArcSine(D d, hn::Vec<D> x) {
    constexpr float kTerms[] = {0.16666667294677742F, 0.0749981973067038F,   0.04472694728166895F,
                                0.02889352168110213F, 0.035330228592149716F, -0.04440343749034493F,
                                0.17986239177761534F, -0.22862272096048314F, 0.16319805195431636F};
    const auto size = hn::Abs(x);
    is_half = size > hn::Set(d, 0.75F);
    const auto half = hn::Set(d, 0.5F);
    const auto square = hn::IfThenElse(is_half, half - size * half, size * size);
    const auto sine = hn::IfThenElse(is_half, hn::Sqrt(square), size);
    arc = hn::MulAdd(sine * square, polynomial(d, square, kTerms), sine);
  }
};

// pi / 2 and its rounding error in float32.
constexpr float kRightAngle = std::numbers::pi_v<float> / 2;
constexpr float kRightAngleRest = static_cast<float>(std::numbers::pi / 2 - static_cast<double>(kRightAngle));

struct Asin {
  static HWY_INLINE auto holds(auto, auto v) { return v == v; }
  static HWY_INLINE auto vector(auto d, auto v) {
    const ArcSine of(d, v);
    const auto missing = of.arc + of.arc;
    const auto large = (hn::Set(d, kRightAngle) - missing) + hn::Set(d, kRightAngleRest);
    return hn::CopySign(hn::IfThenElse(of.is_half, large, of.arc), v);
  }
  static float scalar(float x) { return std::asin(x); }
};
struct Acos {
  static HWY_INLINE auto holds(auto, auto v) { return v == v; }
  static HWY_INLINE auto vector(auto d, auto v) {
    const ArcSine of(d, v);
    const auto twice = of.arc + of.arc;
    const auto widened = (hn::Set(d, 2 * kRightAngle) - twice) + hn::Set(d, 2 * kRightAngleRest);
    const auto from_middle = (hn::Set(d, kRightAngle) - hn::CopySign(of.arc, v)) + hn::Set(d, kRightAngleRest);
    return hn::IfThenElse(of.is_half, hn::IfNegativeThenElse(v, widened, twice), from_middle);
  }
  static float scalar(float x) { return std::acos(x); }
};
struct Erf {
  static HWY_INLINE auto holds(auto, auto v) { return v == v; }
  static HWY_INLINE auto vector(auto d, auto v) { return erf32(d, v); }
  static float scalar(float x) { return std::erf(x); }
};
// x P(w), where w = -log(1 - x^2) (Giles, 2012): a polynomial in w up to 5, in sqrt(w) beyond. Chebyshev fits with a
// relative error of 2^-24. Infinity for 1, NaN for larger values.
struct Erfinv {
  static HWY_INLINE auto holds(auto, auto v) { return v == v; }
  static HWY_INLINE auto vector(auto d, auto x) {
    constexpr float kNear[] = {1.501409360450329F,       0.24664027905463662F,    -0.004177392875203149F,
                               -0.001252726391773229F,   0.00021834938623976644F, -4.9724196894547514e-06F,
                               -3.4639852676333717e-06F, 4.6813134805534123e-07F, 2.3335967195708108e-08F,
                               -8.931925970244222e-09F};
    constexpr float kFar[] = {2.8329768070195414F,    1.0016749120571993F,     0.009444992113527836F,
                              -0.007636489636678905F, 0.005689216294342166F,   -0.0036009003307526993F,
                              0.001479703952923971F,  -5.045885289808411e-05F, -0.00030552505117411146F,
                              0.0001115385807799795F};
    const auto one = hn::Set(d, 1.0F);
    const auto w = hn::Neg(hn::Log(d, (one - x) * (one + x)));
    auto ratio = polynomial(d, w - hn::Set(d, 2.5F), kNear);
    const auto is_far = w > hn::Set(d, 5.0F);
    if (!hn::AllFalse(d, is_far)) {
      ratio = hn::IfThenElse(is_far, polynomial(d, hn::Sqrt(w) - hn::Set(d, 3.0F), kFar), ratio);
    }
    const auto size = hn::Abs(x);
    const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    const auto outside = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
    const auto at_one = hn::IfThenElse(size == one, hn::CopySign(infinity, x), outside);
    return hn::IfThenElse(size < one, x * ratio, at_one);
  }
  static float scalar(float nan) { return nan; }
};
// max(x, 0) - abs(x) / 2 erfc(size), size = abs(x) / sqrt(2): no cancellation for either sign. erfc(size) exp(size^2)
// is a polynomial in 2.8 / (2.8 + size), a
//  Chebyshev fit with a relative error of 7e-9 while the product is not 0.
struct Gelu {
  static HWY_INLINE auto holds(auto d, auto v) { return is_finite(d, v); }
  static HWY_INLINE auto vector(auto d, auto x) {
    constexpr float kTerms[] = {-4.4440861305172774e-05F, 0.2024881134777688F,    0.19179408663625372F,
                                0.24333876240206379F,     -0.033280686515904184F, 0.5925356004355116F,
                                -0.6465611411906059F,     0.7762837092821051F,    -0.39817989934114406F,
                                0.07162588896228482F};
    const auto one = hn::Set(d, 1.0F);
    const auto half = hn::Abs(x) * hn::Set(d, 0.5F);
    const auto depth = half * hn::Abs(x);
    const auto most = hn::Set(d, 79.0F);
    const auto gaussian = hn::IfThenElseZero(depth < most, exp32(d, hn::Neg(hn::Min(depth, most))));
    const auto t = one / hn::MulAdd(half, hn::Set(d, std::numbers::sqrt2_v<float> / 2.8F), one);
    return hn::NegMulAdd(half * gaussian, polynomial(d, t, kTerms), hn::Max(x, hn::Zero(d)));
  }
  static float scalar(float x) { return gelu(x); }
};
// Gradients, on the domain of exp32.
struct GeluBackward {
  static HWY_INLINE auto holds(auto d, auto x) { return lies_in(d, x, -79, 79); }
  static HWY_INLINE auto vector(auto d, auto g, auto x) {
    const auto half = hn::Set(d, 0.5F);
    const auto depth = x * x * half;
    const auto most = hn::Set(d, 79.0F);
    const auto gaussian = hn::IfThenElseZero(depth < most, exp32(d, hn::Neg(hn::Min(depth, most))));
    const auto size = hn::Abs(x) * hn::Set(d, std::numbers::sqrt2_v<float> / 2);
    const auto cdf = hn::MulAdd(half, hn::CopySign(erf_of_size(d, size, gaussian), x), half);
    const auto density = gaussian * hn::Set(d, std::numbers::inv_sqrtpi_v<float> * std::numbers::sqrt2_v<float> / 2);
    return g * hn::MulAdd(x, density, cdf);
  }
  static float scalar(float g, float x) { return gelu_backward(g, x); }
};
struct SiluBackward {
  static HWY_INLINE auto holds(auto d, auto x) { return lies_in(d, x, -79, 79); }
  static HWY_INLINE auto vector(auto d, auto g, auto x) {
    const auto one = hn::Set(d, 1.0F);
    const auto s = one / (one + exp32(d, hn::Neg(x)));
    return g * s * hn::MulAdd(x, one - s, one);
  }
  static float scalar(float g, float x) { return silu_backward(g, x); }
};
struct LogSigmoidBackward {
  static HWY_INLINE auto holds(auto d, auto x) { return lies_in(d, x, -79, 79); }
  static HWY_INLINE auto vector(auto d, auto g, auto x) { return g / (exp32(d, x) + hn::Set(d, 1.0F)); }
  static float scalar(float g, float x) { return static_cast<float>(g / (1 + std::exp(static_cast<double>(x)))); }
};
struct GeluTanh {
  static HWY_INLINE auto holds(auto d, auto v) { return hn::Abs(v) <= hn::Set(d, 1e6F); }
  static HWY_INLINE auto vector(auto d, auto v) {
    constexpr auto kScale = static_cast<float>(kGeluScale);
    constexpr auto kCube = static_cast<float>(kGeluCube);
    const auto inner = hn::Set(d, kScale) * hn::MulAdd(v * v * v, hn::Set(d, kCube), v);
    const auto half = v * hn::Set(d, 0.5F);
    return hn::MulAdd(half, tanh32(d, inner), half);
  }
  static float scalar(float x) { return gelu_tanh(x); }
};

MathKernel kernel_for(MathFunction function) {
  switch (function) {
    case MathFunction::kExp2: return &map_vector<Exp2, float>;
    case MathFunction::kAsin: return &map_vector<Asin, float>;
    case MathFunction::kAcos: return &map_vector<Acos, float>;
    case MathFunction::kTanh: return &map_vector<Tanh, float>;
    case MathFunction::kErf: return &map_vector<Erf, float>;
    case MathFunction::kErfinv: return &map_vector<Erfinv, float>;
    case MathFunction::kGelu: return &map_vector<Gelu, float>;
    case MathFunction::kGeluTanh: return &map_vector<GeluTanh, float>;
    case MathFunction::kGeluBackward: return &map_vector2<GeluBackward>;
    case MathFunction::kSiluBackward: return &map_vector2<SiluBackward>;
    case MathFunction::kLogSigmoidBackward: return &map_vector2<LogSigmoidBackward>;
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

MathKernel float_math_kernel(MathFunction function) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(function);
}

}  // namespace softnpu
#endif
