#include "ops/list/foreach/kernels.h"

#include <cmath>
#include <type_traits>

namespace softnpu {
namespace {

template <typename F, typename T>
void map4(void* out, const void* const* in, size_t count, const void*) {
  const auto* a = static_cast<const T*>(in[0]);
  const auto* b = static_cast<const T*>(in[1]);
  const auto* c = static_cast<const T*>(in[2]);
  const auto* d = static_cast<const T*>(in[3]);
  auto* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = F::of(a[i], b[i], c[i], d[i]);
}

struct Addcmul {
  template <typename T>
  static T of(T a, T b, T c, T d) {
    return a + d * b * c;
  }
};

struct Addcdiv {
  template <typename T>
  static T of(T a, T b, T c, T d) {
    return a + d * b / c;
  }
};

template <typename T>
void round_by(void* out, const void* const* in, size_t count, const void*) {
  const auto* a = static_cast<const T*>(in[0]);
  auto* y = static_cast<T*>(out);
  const auto each = [&](auto f) {
    for (size_t i = 0; i < count; ++i) y[i] = f(a[i]);
  };
  if (count == 0) return;
  switch (static_cast<int>(*static_cast<const T*>(in[1]))) {
    case 1: return each([](T x) { return std::nearbyint(x); });
    case 2: return each([](T x) { return std::floor(x); });
    case 3: return each([](T x) { return std::ceil(x); });
    case 5: return each([](T x) { return std::trunc(x); });
    case 7: return each([](T x) { return x - std::trunc(x); });
    default: return each([](T x) { return x; });
  }
}

}  // namespace

MapKernel addcmul_kernel(ComputeType compute_type) {
  return with_compute_type(compute_type, []<typename T>() -> MapKernel { return &map4<Addcmul, T>; });
}

MapKernel addcdiv_kernel(ComputeType compute_type) {
  return with_compute_type(compute_type, []<typename T>() -> MapKernel {
    if constexpr (std::is_integral_v<T>) {
      return nullptr;
    } else {
      return &map4<Addcdiv, T>;
    }
  });
}

MapKernel round_kernel(ComputeType compute_type) {
  if (compute_type == ComputeType::kF32) return &round_by<float>;
  return compute_type == ComputeType::kF64 ? &round_by<double> : nullptr;
}

}  // namespace softnpu
