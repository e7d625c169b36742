// Functions by Highway's polynomials; lanes outside of their domain use libm.

#include <cmath>
#include <limits>
#include <numbers>

#include "ops/math/elementwise/map_op.h"
#include "ops/math/elementwise/scalar_math.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/elementwise/math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "ops/math/elementwise/exp32.h"
#include "ops/math/elementwise/map_vectors.h"

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
MapKernel doubles(ComputeType compute_type) {
  return compute_type == ComputeType::kF64 ? &map_vector<F, double> : nullptr;
}

MapKernel kernel_for(MapOp op, ComputeType compute_type) {
  switch (op) {
    case MapOp::kExp: return vectors<Exp>(compute_type);
    case MapOp::kExpm1: return vectors<Expm1>(compute_type);
    case MapOp::kLog: return vectors<Log>(compute_type);
    case MapOp::kLog2: return vectors<Log2>(compute_type);
    case MapOp::kLog10: return vectors<Log10>(compute_type);
    case MapOp::kLog1p: return vectors<Log1p>(compute_type);
    case MapOp::kSin: return vectors<Sin>(compute_type);
    case MapOp::kCos: return vectors<Cos>(compute_type);
    case MapOp::kAtan: return vectors<Atan>(compute_type);
    case MapOp::kTanh: return doubles<Tanh>(compute_type);
    case MapOp::kSigmoid: return vectors<Sigmoid>(compute_type);
    case MapOp::kSilu: return vectors<Silu>(compute_type);
    case MapOp::kGeluTanh: return doubles<GeluTanh>(compute_type);
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

MapKernel math_kernel(MapOp op, ComputeType compute_type) {
  limit_simd_targets();
  if (MapKernel kernel = HWY_DYNAMIC_DISPATCH(kernel_for)(op, compute_type)) return kernel;
  return compute_type == ComputeType::kF64 ? scalar_kernel(op) : nullptr;
}

}  // namespace softnpu
#endif
