// Loops over float32 values that compute in vectors of doubles and round once: an algorithm's own error vanishes in the
// rounding, and intermediate values neither overflow nor become subnormal.
// Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_SIMD_MATH_DOUBLE_LANES_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_SIMD_MATH_DOUBLE_LANES_H_
#undef SOFTNPU_SIMD_MATH_DOUBLE_LANES_H_
#else
#define SOFTNPU_SIMD_MATH_DOUBLE_LANES_H_
#endif

#include <hwy/highway.h>

#include "simd/math/functions.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Floats = hn::Rebind<float, Doubles>;  // the same number of lanes
using DoubleVector = hn::Vec<Doubles>;
using FloatVector = hn::Vec<Floats>;

HWY_INLINE DoubleVector doubles(double value) { return hn::Set(Doubles(), value); }
HWY_INLINE DoubleVector widened(FloatVector v) { return hn::PromoteTo(Doubles(), v); }
HWY_INLINE FloatVector narrowed(DoubleVector v) {
#if HWY_TARGET == HWY_SCALAR  // its DemoteTo stops at the largest number
  return FloatVector(static_cast<float>(v.raw));
#else
  return hn::DemoteTo(Floats(), v);
#endif
}

// terms[0] + terms[1] x + ...
template <size_t kTerms>
HWY_INLINE DoubleVector polynomial(DoubleVector x, const double (&terms)[kTerms]) {
  DoubleVector sum = doubles(terms[kTerms - 1]);
  for (size_t i = kTerms - 1; i-- > 0;) sum = hn::MulAdd(sum, x, doubles(terms[i]));
  return sum;
}

// Calls F::of(a, ..., k) on vectors and constants; k is omitted if F::of does not take it. F::finish(y, a, ...), if it
// exists, completes the result in float32.
template <typename F, typename... V>
HWY_INLINE FloatVector rounded_of([[maybe_unused]] const float* k, V... in) {
  DoubleVector exact;
  if constexpr (requires { F::of(widened(in)..., k); }) {
    exact = F::of(widened(in)..., k);
  } else {
    exact = F::of(widened(in)...);
  }
  const FloatVector y = narrowed(exact);
  if constexpr (requires { F::finish(y, in...); }) {
    return F::finish(y, in...);
  } else {
    return y;
  }
}

// Recomputes lanes where `held` is false by F::scalar(a, ...).
template <typename F, typename M, typename... V>
HWY_NOINLINE void recompute_lanes(M held, float* y, V... in) {
  constexpr size_t kMax = hn::MaxLanes(Doubles());
  HWY_ALIGN float values[sizeof...(V)][kMax];
  HWY_ALIGN double good[kMax];
  size_t input = 0;
  (hn::Store(in, Floats(), values[input++]), ...);
  hn::Store(hn::IfThenElseZero(held, doubles(1)), Doubles(), good);
  for (size_t i = 0; i < hn::Lanes(Doubles()); ++i) {
    if (good[i] != 0) continue;
    if constexpr (sizeof...(V) == 1) {
      y[i] = F::scalar(values[0][i]);
    } else {
      y[i] = F::scalar(values[0][i], values[1][i]);
    }
  }
}

template <typename F, typename... V>
HWY_INLINE void put_vector(float* y, const float* k, V... in) {
  hn::StoreU(rounded_of<F>(k, in...), Floats(), y);
  if constexpr (requires { F::holds(widened(in)...); }) {
    const auto held = F::holds(widened(in)...);
    if (HWY_UNLIKELY(!hn::AllTrue(Doubles(), held))) recompute_lanes<F>(held, y, in...);
  }
}

// The remainder is computed in a full vector too: a value's result does not depend on its position.
template <typename F>
void float_map1(void* out, const void* const* in, size_t count, const void* constants) {
  const size_t lanes = hn::Lanes(Floats());
  const auto* k = static_cast<const float*>(constants);
  const auto* a = static_cast<const float*>(in[0]);
  auto* y = static_cast<float*>(out);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) put_vector<F>(y + i, k, hn::LoadU(Floats(), a + i));
  if (i == count) return;
  HWY_ALIGN float last[hn::MaxLanes(Floats())] = {};
  for (size_t j = 0; i + j < count; ++j) last[j] = a[i + j];
  put_vector<F>(last, k, hn::Load(Floats(), last));
  for (size_t j = 0; i + j < count; ++j) y[i + j] = last[j];
}

template <typename F>
void float_map2(void* out, const void* const* in, size_t count, const void* constants) {
  const size_t lanes = hn::Lanes(Floats());
  const auto* k = static_cast<const float*>(constants);
  const auto* a = static_cast<const float*>(in[0]);
  const auto* b = static_cast<const float*>(in[1]);
  auto* y = static_cast<float*>(out);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    put_vector<F>(y + i, k, hn::LoadU(Floats(), a + i), hn::LoadU(Floats(), b + i));
  }
  if (i == count) return;
  HWY_ALIGN float last_a[hn::MaxLanes(Floats())];
  HWY_ALIGN float last_b[hn::MaxLanes(Floats())];
  for (float& value : last_a) value = 1;  // no function is slow for 1 and 1
  for (float& value : last_b) value = 1;
  for (size_t j = 0; i + j < count; ++j) last_a[j] = a[i + j];
  for (size_t j = 0; i + j < count; ++j) last_b[j] = b[i + j];
  put_vector<F>(last_a, k, hn::Load(Floats(), last_a), hn::Load(Floats(), last_b));
  for (size_t j = 0; i + j < count; ++j) y[i + j] = last_a[j];
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
