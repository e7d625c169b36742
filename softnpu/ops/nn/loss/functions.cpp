#include "ops/nn/loss/functions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/loss/functions.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/float_sums.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// PyTorch's bounds: logarithms are at least -100, divisors at least 1e-12.
constexpr double kMinLog = -100;
constexpr double kMinDivisor = 1e-12;

template <typename T>
HWY_INLINE T log_up(T x) {
  return std::max(std::log(x), static_cast<T>(kMinLog));
}
// log(1 + exp(-x)) without overflow.
template <typename T>
HWY_INLINE T softplus_of_minus(T x) {
  return std::log1p(std::exp(-std::fabs(x))) + std::max(-x, T(0));
}
template <typename T>
HWY_INLINE T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

struct Square {
  static HWY_INLINE auto of(auto a, auto b, const auto*) { return (a - b) * (a - b); }
};
struct Abs {
  static HWY_INLINE auto of(auto a, auto b, const auto*) { return std::fabs(a - b); }
};
struct Smooth {
  template <typename T>
  static HWY_INLINE T of(T a, T b, const T* k) {
    const T z = std::fabs(a - b);
    const T curved = T(0.5) * z * z / k[0];
    const T straight = z - T(0.5) * k[0];
    return z < k[0] ? curved : straight;
  }
};
struct Entropy {
  template <typename T>
  static HWY_INLINE T of(T a, T b, T c, const T*) {
    // NaN for a probability outside of [0, 1] is kept: max(NaN, x) is NaN if NaN is first.
    return ((b - 1) * std::max(std::log1p(-a), static_cast<T>(kMinLog)) - b * log_up(a)) * c;
  }
};
struct LogitEntropy {
  template <typename T>
  static HWY_INLINE T of(T a, T b, T c, T d, const T*) {
    return ((1 - b) * a + ((d - 1) * b + 1) * softplus_of_minus(a)) * c;
  }
};
struct Divergence {
  template <typename T>
  static HWY_INLINE T of(T a, T b, const T*) {
    return b == 0 ? T(0) : b * (std::log(b) - a);
  }
};
struct LogDivergence {
  static HWY_INLINE auto of(auto a, auto b, const auto*) { return std::exp(b) * (b - a); }
};
struct SoftMargin {
  static HWY_INLINE auto of(auto a, auto b, const auto*) { return softplus_of_minus(a * b); }
};

struct SquareBackward {
  template <typename T>
  static HWY_INLINE T of(T a, T b, T c, const T* k) {
    return k[0] * 2 * (b - c) * a;
  }
};
struct AbsBackward {
  template <typename T>
  static HWY_INLINE T of(T a, T b, T c, const T* k) {
    const T x = b - c;
    const T size = k[0] * a;
    return x > 0 ? size : (x < 0 ? -size : (x == 0 ? T(0) * size : x));
  }
};
struct SmoothBackward {
  template <typename T>
  static HWY_INLINE T of(T a, T b, T c, const T* k) {
    const T x = b - c;
    const T curved = k[0] * x * a / k[1];
    return x <= -k[1] ? -k[0] * a : (x >= k[1] ? k[0] * a : curved);
  }
};
struct EntropyBackward {
  template <typename T>
  static HWY_INLINE T of(T a, T b, T c, T d, const T* k) {
    return k[0] * a * d * (b - c) / std::max((1 - b) * b, static_cast<T>(kMinDivisor));
  }
};
struct LogitEntropyBackward {
  template <typename T>
  static HWY_INLINE T of(T a, T b, T c, T d, T e, const T* k) {
    return k[0] * a * d * ((e * c + 1 - c) * sigmoid(b) - e * c);
  }
};
struct DivergenceBackward {
  template <typename T>
  static HWY_INLINE T of(T a, T, T c, const T* k) {
    return c > 0 ? -k[0] * c * a : T(0);
  }
};
struct LogDivergenceBackward {
  template <typename T>
  static HWY_INLINE T of(T a, T, T c, const T* k) {
    return -k[0] * std::exp(c) * a;
  }
};
struct DivergenceTargetBackward {
  template <typename T>
  static HWY_INLINE T of(T a, T b, T c, const T* k) {
    return c > 0 ? k[0] * a * (std::log(c) + 1 - b) : T(0);
  }
};
struct LogDivergenceTargetBackward {
  template <typename T>
  static HWY_INLINE T of(T a, T b, T c, const T* k) {
    return k[0] * a * std::exp(c) * (c - b + 1);
  }
};
struct SoftMarginBackward {
  template <typename T>
  static HWY_INLINE T of(T a, T b, T c, const T* k) {
    return -k[0] * c * a * sigmoid(-c * b);
  }
};

// The number of inputs that F takes before its constants.
template <typename F, typename T>
constexpr size_t inputs_of() {
  if constexpr (requires(T x, const T* k) { F::of(x, x, k); }) return 2;
  if constexpr (requires(T x, const T* k) { F::of(x, x, x, k); }) return 3;
  if constexpr (requires(T x, const T* k) { F::of(x, x, x, x, k); }) return 4;
  return 5;
}

template <typename F, typename T, size_t... kInputs>
HWY_INLINE void map_inputs(T* y, const void* const* in, size_t count, const T* k, std::index_sequence<kInputs...>) {
  const T* const from[] = {static_cast<const T*>(in[kInputs])...};
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = F::of(from[kInputs][i]..., k);
}

// The result may be in an input's memory, element for element: iterations are independent.
template <typename F, typename T>
void map(void* out, const void* const* in, size_t count, const void* constants) {
  // A copy, which no result overwrites.
  T k[4];
  std::memcpy(k, constants, sizeof k);
  map_inputs<F>(static_cast<T*>(out), in, count, k, std::make_index_sequence<inputs_of<F, T>()>());
}

double total32(const void* values, size_t count) {
  const auto* v = static_cast<const float*>(values);
  double sum = 0;
  size_t i = sum_trusted_eights(
      count, [v](auto d, size_t at) HWY_ATTR { return hn::LoadU(d, v + at); }, &is_sum_exact_enough, &sum);
  for (; i < count; ++i) sum += static_cast<double>(v[i]);
  return sum;
}

double total64(const void* values, size_t count) {
  const auto* v = static_cast<const double*>(values);
  const hn::ScalableTag<double> d;
  const size_t n = hn::Lanes(d);
  auto first = hn::Zero(d);
  auto second = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * n <= count; i += 2 * n) {
    first = hn::Add(first, hn::LoadU(d, v + i));
    second = hn::Add(second, hn::LoadU(d, v + i + n));
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second)));
  for (; i < count; ++i) sum += v[i];
  return sum;
}

template <typename F>
MapKernel kernel_of(ComputeType compute_type) {
  if (compute_type == ComputeType::kF32) return &map<F, float>;
  return compute_type == ComputeType::kF64 ? &map<F, double> : nullptr;
}

MapKernel kernel_for(LossOp op, ComputeType compute_type) {
  switch (op) {
    case LossOp::kSquare: return kernel_of<Square>(compute_type);
    case LossOp::kAbs: return kernel_of<Abs>(compute_type);
    case LossOp::kSmooth: return kernel_of<Smooth>(compute_type);
    case LossOp::kEntropy: return kernel_of<Entropy>(compute_type);
    case LossOp::kLogitEntropy: return kernel_of<LogitEntropy>(compute_type);
    case LossOp::kDivergence: return kernel_of<Divergence>(compute_type);
    case LossOp::kLogDivergence: return kernel_of<LogDivergence>(compute_type);
    case LossOp::kSoftMargin: return kernel_of<SoftMargin>(compute_type);
    case LossOp::kSquareBackward: return kernel_of<SquareBackward>(compute_type);
    case LossOp::kAbsBackward: return kernel_of<AbsBackward>(compute_type);
    case LossOp::kSmoothBackward: return kernel_of<SmoothBackward>(compute_type);
    case LossOp::kEntropyBackward: return kernel_of<EntropyBackward>(compute_type);
    case LossOp::kLogitEntropyBackward: return kernel_of<LogitEntropyBackward>(compute_type);
    case LossOp::kDivergenceBackward: return kernel_of<DivergenceBackward>(compute_type);
    case LossOp::kLogDivergenceBackward: return kernel_of<LogDivergenceBackward>(compute_type);
    case LossOp::kDivergenceTargetBackward: return kernel_of<DivergenceTargetBackward>(compute_type);
    case LossOp::kLogDivergenceTargetBackward: return kernel_of<LogDivergenceTargetBackward>(compute_type);
    case LossOp::kSoftMarginBackward: return kernel_of<SoftMarginBackward>(compute_type);
  }
  return nullptr;
}

TotalKernel total_for(ComputeType compute_type) { return compute_type == ComputeType::kF64 ? &total64 : &total32; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(kernel_for);
HWY_EXPORT(total_for);

}  // namespace

MapKernel loss_kernel(LossOp op, ComputeType compute_type) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(op, compute_type);
}

TotalKernel total_kernel(ComputeType compute_type) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(total_for)(compute_type);
}

}  // namespace softnpu
#endif
