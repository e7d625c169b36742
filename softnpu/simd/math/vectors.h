// Loops over values that are computed in vectors of their own type.
// Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_SIMD_MATH_VECTORS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_SIMD_MATH_VECTORS_H_
#undef SOFTNPU_SIMD_MATH_VECTORS_H_
#else
#define SOFTNPU_SIMD_MATH_VECTORS_H_
#endif

#include <hwy/highway.h>

#include <limits>

#include "simd/math/functions.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Computes a vector by F::vector(d, v); lanes where F::holds(d, v) is false by F::scalar. The result may be in an
// input's memory.
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
  // Lanes where it does not hold get a valid dummy value.
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

// For two inputs, in float32.
template <typename F>
HWY_INLINE void one_vector2(const float* a, const float* b, float* y) {
  const hn::ScalableTag<float> d;
  const auto u = hn::LoadU(d, a);
  const auto v = hn::LoadU(d, b);
  const auto held = F::holds(d, v);
  if (HWY_LIKELY(hn::AllTrue(d, held))) return hn::StoreU(F::vector(d, u, v), d, y);
  HWY_ALIGN float first[hn::MaxLanes(d)];
  HWY_ALIGN float second[hn::MaxLanes(d)];
  HWY_ALIGN float good[hn::MaxLanes(d)];
  hn::Store(u, d, first);
  hn::Store(v, d, second);
  hn::Store(hn::IfThenElseZero(held, hn::Set(d, 1.0F)), d, good);
  hn::StoreU(F::vector(d, u, hn::IfThenElse(held, v, hn::Set(d, 0.5F))), d, y);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (good[i] == 0) y[i] = F::scalar(first[i], second[i]);
  }
}

template <typename F>
void map_vector2(void* out, const void* const* in, size_t count, const void*) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto* a = static_cast<const float*>(in[0]);
  const auto* b = static_cast<const float*>(in[1]);
  auto* y = static_cast<float*>(out);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) one_vector2<F>(a + i, b + i, y + i);
  if (i == count) return;
  HWY_ALIGN float last_a[hn::MaxLanes(d)] = {};
  HWY_ALIGN float last_b[hn::MaxLanes(d)] = {};
  for (size_t j = 0; i + j < count; ++j) last_a[j] = a[i + j];
  for (size_t j = 0; i + j < count; ++j) last_b[j] = b[i + j];
  one_vector2<F>(last_a, last_b, last_a);
  for (size_t j = 0; i + j < count; ++j) y[i + j] = last_a[j];
}

template <typename F>
MathKernel vectors(FloatType type) {
  switch (type) {
    case FloatType::kF32: return &map_vector<F, float>;
    case FloatType::kF64: return &map_vector<F, double>;
  }
  return nullptr;
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

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
