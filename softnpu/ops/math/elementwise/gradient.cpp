// Gradients of a few instructions: the compiler vectorises them.

#include <limits>

#include "ops/math/elementwise/map_op.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/elementwise/gradient.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/math/elementwise/loop.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

struct SigmoidBackward {
  static HWY_INLINE auto of(Real auto g, decltype(g) y, const auto*) { return g * (1 - y) * y; }
};
struct TanhBackward {
  static HWY_INLINE auto of(Real auto g, decltype(g) y, const auto*) { return g * (1 - y * y); }
};
struct ThresholdBackward {
  template <Number T>
  static HWY_INLINE T of(T g, T x, const T* k) {
    return x <= k[0] ? T(0) : g;
  }
};
struct LeakyReluBackward {
  template <Real T>
  static HWY_INLINE T of(T g, T x, const T* k) {
    return x > 0 ? g : g * k[0];
  }
};
struct HardtanhBackward {
  template <Real T>
  static HWY_INLINE T of(T g, T x, const T* k) {
    return x <= k[0] || x >= k[1] ? T(0) : g;
  }
};
struct HardsigmoidBackward {
  template <Real T>
  static HWY_INLINE T of(T g, T x, const T*) {
    return x > -3 && x < 3 ? g / 6 : T(0);
  }
};
struct HardswishBackward {
  template <Real T>
  static HWY_INLINE T of(T g, T x, const T*) {
    return x <= -3 ? T(0) : (x < 3 ? g * (x / 3 + T(0.5)) : g);
  }
};
struct HardshrinkBackward {
  template <Real T>
  static HWY_INLINE T of(T g, T x, const T* k) {
    return x >= -k[0] && x <= k[0] ? T(0) : g;
  }
};
struct EluBackwardOfResult {
  template <Real T>
  static HWY_INLINE T of(T g, T y, const T* k) {
    return y <= 0 ? g * k[2] * (y + k[0] * k[1]) : g * k[1];
  }
};
// For an input clamped to [k0, 1 - k0] if k0 is not negative.
struct LogitBackward {
  template <Real T>
  static HWY_INLINE T of(T g, T x, const T* k) {
    const bool is_clamped = k[0] >= 0;
    const T low = is_clamped ? k[0] : T(0);
    const T outside = is_clamped ? T(0) : std::numeric_limits<T>::quiet_NaN();
    const T inside = x == 0 || x == 1 ? g * std::numeric_limits<T>::infinity() : g / (x * (1 - x));
    return x < low || x > 1 - low ? outside : inside;
  }
};

MapKernel kernel_for(MapOp op, ComputeType compute_type) {
  switch (op) {
#include "opgen/gradient_cases.inc"
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

MapKernel gradient_kernel(MapOp op, ComputeType compute_type) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(op, compute_type);
}

}  // namespace softnpu
#endif
