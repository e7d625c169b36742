// Functions by Highway's polynomials; lanes outside of their domain use libm.

#include <cmath>
#include <limits>
#include <numbers>

#include "simd/math/functions.h"
#include "simd/math/scalar_math.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/math/elementary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "simd/math/exp32.h"
#include "simd/math/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// Exp is exact to the last bit except for subnormal results.
template <typename D, typename V>
HWY_INLINE auto exp_holds(D d, V v) {
  return sizeof(hn::TFromD<D>) == 4 ? lies_in(d, v, -87, 88) : lies_in(d, v, -708, 706);
}

struct Exp {
  static HWY_INLINE auto holds(auto d, auto v) { return exp_holds(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) {
    if constexpr (sizeof(hn::TFromD<decltype(d)>) == sizeof(float)) {
      return exp32(d, v);
    } else {
      return hn::Exp(d, v);
    }
  }
  template <typename T>
  static T scalar(T x) {
    return std::exp(x);
  }
};
struct Expm1 {
  static HWY_INLINE auto holds(auto d, auto v) { return exp_holds(d, v); }
  // Highway's value of -0 is 0.
  static HWY_INLINE auto vector(auto d, auto v) { return hn::IfThenElse(v == hn::Zero(d), v, hn::Expm1(d, v)); }
  template <typename T>
  static T scalar(T x) {
    return std::expm1(x);
  }
};

template <typename D, typename V>
HWY_INLINE auto is_normal_positive(D d, V v) {
  using T = hn::TFromD<D>;
  return lies_in(d, v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

struct Log {
  static HWY_INLINE auto holds(auto d, auto v) { return is_normal_positive(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) { return hn::Log(d, v); }
  template <typename T>
  static T scalar(T x) {
    return std::log(x);
  }
};
struct Log2 {
  static HWY_INLINE auto holds(auto d, auto v) { return is_normal_positive(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) { return hn::Log2(d, v); }
  template <typename T>
  static T scalar(T x) {
    return std::log2(x);
  }
};
struct Log10 {
  static HWY_INLINE auto holds(auto d, auto v) { return is_normal_positive(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) { return hn::Log10(d, v); }
  template <typename T>
  static T scalar(T x) {
    return std::log10(x);
  }
};
struct Log1p {
  static HWY_INLINE auto holds(auto d, auto v) {
    using T = hn::TFromD<decltype(d)>;
    return lies_in(d, v, 0, std::numeric_limits<T>::max() / 2);
  }
  static HWY_INLINE auto vector(auto d, auto v) { return hn::Log1p(d, v); }
  template <typename T>
  static T scalar(T x) {
    return std::log1p(x);
  }
};

template <typename D, typename V>
HWY_INLINE auto is_small_angle(D d, V v) {
  return hn::Abs(v) <= hn::Set(d, hn::TFromD<D>(30000));
}

struct Sin {
  static HWY_INLINE auto holds(auto d, auto v) { return is_small_angle(d, v); }
  // Highway's sine of -0 is 0.
  static HWY_INLINE auto vector(auto d, auto v) { return hn::IfThenElse(v == hn::Zero(d), v, hn::Sin(d, v)); }
  template <typename T>
  static T scalar(T x) {
    return std::sin(x);
  }
};
struct Cos {
  static HWY_INLINE auto holds(auto d, auto v) { return is_small_angle(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) { return hn::Cos(d, v); }
  template <typename T>
  static T scalar(T x) {
    return std::cos(x);
  }
};
struct Atan {
  static HWY_INLINE auto holds(auto d, auto v) { return is_finite(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) { return hn::Atan(d, v); }
  template <typename T>
  static T scalar(T x) {
    return std::atan(x);
  }
};
// For float64; float_math.cpp has the float32 version.
struct Tanh {
  static HWY_INLINE auto holds(auto d, auto v) { return is_finite(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) { return hn::Tanh(d, v); }
  static double scalar(double x) { return std::tanh(x); }
};
struct Sigmoid {
  static HWY_INLINE auto holds(auto d, auto v) { return exp_holds(d, hn::Neg(v)); }
  static HWY_INLINE auto vector(auto d, auto v) {
    const auto one = hn::Set(d, hn::TFromD<decltype(d)>(1));
    return one / (one + Exp::vector(d, hn::Neg(v)));
  }
  template <typename T>
  static T scalar(T x) {
    return 1 / (1 + std::exp(-x));
  }
};
struct Silu {
  static HWY_INLINE auto holds(auto d, auto v) { return Sigmoid::holds(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) {
    return v / (hn::Set(d, hn::TFromD<decltype(d)>(1)) + Exp::vector(d, hn::Neg(v)));
  }
  template <typename T>
  static T scalar(T x) {
    return x / (1 + std::exp(-x));
  }
};
// For float64, like Tanh.
struct GeluTanh {
  static HWY_INLINE auto holds(auto d, auto v) { return hn::Abs(v) <= hn::Set(d, 1e6); }
  static HWY_INLINE auto vector(auto d, auto v) {
    const auto inner = hn::Set(d, kGeluScale) * hn::MulAdd(v * v * v, hn::Set(d, kGeluCube), v);
    const auto half = v * hn::Set(d, 0.5);
    return hn::MulAdd(half, hn::Tanh(d, inner), half);
  }
  static double scalar(double x) { return gelu_tanh(x); }
};

template <typename F>
MathKernel doubles(FloatType type) {
  return type == FloatType::kF64 ? &map_vector<F, double> : nullptr;
}

MathKernel kernel_for(MathFunction function, FloatType type) {
  switch (function) {
    case MathFunction::kExp: return vectors<Exp>(type);
    case MathFunction::kExpm1: return vectors<Expm1>(type);
    case MathFunction::kLog: return vectors<Log>(type);
    case MathFunction::kLog2: return vectors<Log2>(type);
    case MathFunction::kLog10: return vectors<Log10>(type);
    case MathFunction::kLog1p: return vectors<Log1p>(type);
    case MathFunction::kSin: return vectors<Sin>(type);
    case MathFunction::kCos: return vectors<Cos>(type);
    case MathFunction::kAtan: return vectors<Atan>(type);
    case MathFunction::kTanh: return doubles<Tanh>(type);
    case MathFunction::kSigmoid: return vectors<Sigmoid>(type);
    case MathFunction::kSilu: return vectors<Silu>(type);
    case MathFunction::kGeluTanh: return doubles<GeluTanh>(type);
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

MathKernel elementary_kernel(MathFunction function, FloatType type) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(function, type);
}

}  // namespace softnpu
#endif
