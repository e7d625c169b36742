// Loops over contiguous values, which the compiler vectorises for each target.
// Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_OPS_ELEMENTWISE_LOOP_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_OPS_ELEMENTWISE_LOOP_H_
#undef SOFTNPU_OPS_ELEMENTWISE_LOOP_H_
#else
#define SOFTNPU_OPS_ELEMENTWISE_LOOP_H_
#endif

#include <concepts>
#include <cstring>

#include "ops/math/elementwise/map_op.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {

template <typename T>
concept Real = std::floating_point<T>;
template <typename T>
concept Integer = std::integral<T>;
template <typename T>
concept Number = Real<T> || Integer<T>;

// A loop's copy of Mapping::constants, which no result overwrites and which may be read where a branch would not.
// Without constants all are 0.
template <typename T>
struct Constants {
  T values[4] = {};
  HWY_INLINE explicit Constants(const void* from) {
    if (from != nullptr) std::memcpy(values, from, sizeof values);
  }
};

// F::of(a, ..., constants) for each value. The result may be in an input's memory, element for element: iterations are
// independent.
template <typename F, typename T>
void map1(void* out, const void* const* in, size_t count, const void* constants) {
  const auto* a = static_cast<const T*>(in[0]);
  const Constants<T> k(constants);
  auto* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = F::of(a[i], k.values);
}

template <typename F, typename T>
void map2(void* out, const void* const* in, size_t count, const void* constants) {
  const auto* a = static_cast<const T*>(in[0]);
  const auto* b = static_cast<const T*>(in[1]);
  const Constants<T> k(constants);
  auto* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = F::of(a[i], b[i], k.values);
}

template <typename F, typename T>
void map3(void* out, const void* const* in, size_t count, const void* constants) {
  const auto* a = static_cast<const T*>(in[0]);
  const auto* b = static_cast<const T*>(in[1]);
  const auto* c = static_cast<const T*>(in[2]);
  const Constants<T> k(constants);
  auto* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = F::of(a[i], b[i], c[i], k.values);
}

template <typename F, typename T>
constexpr MapKernel loop_of() {
  if constexpr (requires(T x, const T* k) { F::of(x, k); }) return &map1<F, T>;
  if constexpr (requires(T x, const T* k) { F::of(x, x, k); }) return &map2<F, T>;
  if constexpr (requires(T x, const T* k) { F::of(x, x, x, k); }) return &map3<F, T>;
  return nullptr;  // not defined for values of this type
}

// For the real types that F supports.
template <typename F>
MapKernel real_loop(ComputeType compute_type) {
  switch (compute_type) {
    case ComputeType::kF32: return loop_of<F, float>();
    case ComputeType::kF64: return loop_of<F, double>();
    case ComputeType::kI32: return loop_of<F, int32_t>();
    case ComputeType::kI64: return loop_of<F, int64_t>();
    case ComputeType::kU64: return loop_of<F, uint64_t>();
    default: return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
