// Functions that Highway's polynomials compute; a lane where those do not hold is computed by libm.

#include <cmath>
#include <limits>
#include <numbers>

#include "ops/elementwise/map_op.h"
#include "ops/elementwise/scalar_math.h"
#include "ops/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// `count` vectors' worth of values through F::vector(d, v...) where F::holds(d, v...), through F::scalar elsewhere.
// Inputs: one or two. The result may lie where an input lies.
template <typename F, typename T>
HWY_INLINE void one_vector(const T* a, T* y) {
  const hn::ScalableTag<T> d;
  const auto v = hn::LoadU(d, a);
  const auto held = F::holds(d, v);
  if (HWY_LIKELY(hn::AllTrue(d, held))) return hn::StoreU(F::vector(d, v), d, y);
  HWY_ALIGN T values[hn::MaxLanes(d)];
  HWY_ALIGN T good[hn::MaxLanes(d)];
  HWY_ALIGN T results[hn::MaxLanes(d)];
  hn::Store(v, d, values);
  hn::Store(hn::IfThenElseZero(held, hn::Set(d, T(1))), d, good);
  // Where it does not hold it is not asked: some value that it takes stands there.
  hn::Store(F::vector(d, hn::IfThenElse(held, v, hn::Set(d, T(0.5)))), d, results);
  for (size_t i = 0; i < hn::Lanes(d); ++i) y[i] = good[i] != 0 ? results[i] : F::scalar(values[i]);
}

template <typename F, typename T>
void map_vector(void* out, const void* const* in, size_t count, const void*) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto* a = static_cast<const T*>(in[0]);
  auto* y = static_cast<T*>(out);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) one_vector<F, T>(a + i, y + i);
  if (i == count) return;
  HWY_ALIGN T last[hn::MaxLanes(d)];
  hn::Store(hn::Set(d, T(0.5)), d, last);
  for (size_t j = 0; i + j < count; ++j) last[j] = a[i + j];
  one_vector<F, T>(last, last);
  for (size_t j = 0; i + j < count; ++j) y[i + j] = last[j];
}

template <typename F>
MapKernel vectors(Wide wide) {
  switch (wide) {
    case Wide::kF32: return &map_vector<F, float>;
    case Wide::kF64: return &map_vector<F, double>;
    default: return nullptr;
  }
}

template <typename D, typename V>
HWY_INLINE auto lies_in(D d, V v, double low, double high) {
  using T = hn::TFromD<D>;
  return hn::And(v >= hn::Set(d, static_cast<T>(low)), v <= hn::Set(d, static_cast<T>(high)));
}

template <typename D, typename V>
HWY_INLINE auto is_finite(D d, V v) {
  return hn::Abs(v) <= hn::Set(d, std::numeric_limits<hn::TFromD<D>>::max());
}

// Exp is right to the last bit but for results that are no normal numbers.
template <typename D, typename V>
HWY_INLINE auto exp_holds(D d, V v) {
  return sizeof(hn::TFromD<D>) == 4 ? lies_in(d, v, -87, 88) : lies_in(d, v, -708, 706);
}

struct Exp {
  static HWY_INLINE auto holds(auto d, auto v) { return exp_holds(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) { return hn::Exp(d, v); }
  template <typename T>
  static T scalar(T x) {
    return std::exp(x);
  }
};
struct Expm1 {
  static HWY_INLINE auto holds(auto d, auto v) { return exp_holds(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) { return hn::Expm1(d, v); }
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
  static HWY_INLINE auto vector(auto d, auto v) { return hn::Sin(d, v); }
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
struct Tanh {
  static HWY_INLINE auto holds(auto d, auto v) { return is_finite(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) { return hn::Tanh(d, v); }
  template <typename T>
  static T scalar(T x) {
    return std::tanh(x);
  }
};
struct Sigmoid {
  static HWY_INLINE auto holds(auto d, auto v) { return exp_holds(d, hn::Neg(v)); }
  static HWY_INLINE auto vector(auto d, auto v) {
    const auto one = hn::Set(d, hn::TFromD<decltype(d)>(1));
    return one / (one + hn::Exp(d, hn::Neg(v)));
  }
  template <typename T>
  static T scalar(T x) {
    return 1 / (1 + std::exp(-x));
  }
};
struct Silu {
  static HWY_INLINE auto holds(auto d, auto v) { return Sigmoid::holds(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) {
    return v / (hn::Set(d, hn::TFromD<decltype(d)>(1)) + hn::Exp(d, hn::Neg(v)));
  }
  template <typename T>
  static T scalar(T x) {
    return x / (1 + std::exp(-x));
  }
};

template <typename D, size_t kTerms>
HWY_INLINE auto polynomial(D d, hn::Vec<D> x, const float (&terms)[kTerms]) {
  auto sum = hn::Set(d, terms[kTerms - 1]);
  for (size_t i = kTerms - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, terms[i]));
  return sum;
}

// erf in float32: x P(x^2) below 1, with a relative error of 2e-7; 1 - exp(-x^2) Q(1 / (1 + x / 2)) from there on, with
// an absolute error of 8e-8. P and Q are Chebyshev fits to the functions themselves.
template <typename D>
HWY_INLINE auto erf32(D d, hn::Vec<D> x) {
  constexpr float kNear[] = {1.128379225730896F,      -0.37612637877464294F,    0.11283791065216064F,
                             -0.026866134256124496F,  0.005223785061389208F,    -0.0008542670402675867F,
                             0.00011956945672864094F, -1.3911695532442536e-05F, 1.0595263120194431e-06F};
  constexpr float kFar[] = {2.552686601120513e-05F, 0.2814987003803253F,   0.2883491516113281F,  0.2080260068178177F,
                            0.33374911546707153F,   -0.35089531540870667F, 0.8146323561668396F,  -1.0724669694900513F,
                            0.6867645382881165F,    -0.216050922870636F,   0.026359722018241882F};
  const auto one = hn::Set(d, 1.0F);
  const auto size = hn::Min(hn::Abs(x), hn::Set(d, 4.5F));  // from where on it is 1 in float32
  const auto square = size * size;
  const auto near = size * polynomial(d, square, kNear);
  const auto t = one / hn::MulAdd(size, hn::Set(d, 0.5F), one);
  const auto far = hn::NegMulAdd(hn::Exp(d, hn::Neg(square)), polynomial(d, t, kFar), one);
  return hn::CopySign(hn::IfThenElse(size < one, near, far), x);
}

// f32 only: in float64 libm's own is taken.
template <typename F>
MapKernel vectors32(Wide wide) {
  switch (wide) {
    case Wide::kF32: return &map_vector<F, float>;
    case Wide::kF64: return scalar_kernel1<F, double>();
    default: return nullptr;
  }
}

struct Erf {
  static HWY_INLINE auto holds(auto, auto v) { return v == v; }
  static HWY_INLINE auto vector(auto d, auto v) { return erf32(d, v); }
  template <typename T>
  static T scalar(T x) {
    return std::erf(x);
  }
};
struct Gelu {
  static HWY_INLINE auto holds(auto d, auto v) { return is_finite(d, v); }
  static HWY_INLINE auto vector(auto d, auto v) {
    const auto half = v * hn::Set(d, 0.5F);
    return hn::MulAdd(half, erf32(d, v * hn::Set(d, std::numbers::sqrt2_v<float> / 2)), half);
  }
  template <typename T>
  static T scalar(T x) {
    return x * T(0.5) * (1 + std::erf(x * (std::numbers::sqrt2_v<T> / 2)));
  }
};
struct GeluTanh {
  static HWY_INLINE auto holds(auto d, auto v) { return hn::Abs(v) <= hn::Set(d, hn::TFromD<decltype(d)>(1e6)); }
  static HWY_INLINE auto vector(auto d, auto v) {
    using T = hn::TFromD<decltype(d)>;
    const auto inner = hn::Set(d, T(kGeluScale)) * hn::MulAdd(v * v * v, hn::Set(d, T(kGeluCube)), v);
    const auto half = v * hn::Set(d, T(0.5));
    return hn::MulAdd(half, hn::Tanh(d, inner), half);
  }
  template <typename T>
  static T scalar(T x) {
    return gelu_tanh(x);
  }
};

MapKernel kernel_for(MapOp op, Wide wide) {
  switch (op) {
    case MapOp::kExp: return vectors<Exp>(wide);
    case MapOp::kExpm1: return vectors<Expm1>(wide);
    case MapOp::kLog: return vectors<Log>(wide);
    case MapOp::kLog2: return vectors<Log2>(wide);
    case MapOp::kLog10: return vectors<Log10>(wide);
    case MapOp::kLog1p: return vectors<Log1p>(wide);
    case MapOp::kSin: return vectors<Sin>(wide);
    case MapOp::kCos: return vectors<Cos>(wide);
    case MapOp::kAtan: return vectors<Atan>(wide);
    case MapOp::kTanh: return vectors<Tanh>(wide);
    case MapOp::kSigmoid: return vectors<Sigmoid>(wide);
    case MapOp::kSilu: return vectors<Silu>(wide);
    case MapOp::kErf: return vectors32<Erf>(wide);
    case MapOp::kGelu: return vectors32<Gelu>(wide);
    case MapOp::kGeluTanh: return vectors<GeluTanh>(wide);
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

MapKernel math_kernel(MapOp op, Wide wide) {
  limit_simd_targets();
  if (MapKernel kernel = HWY_DYNAMIC_DISPATCH(kernel_for)(op, wide)) return kernel;
  return scalar_kernel(op, wide);
}

}  // namespace softnpu
#endif
