// Variances and log-sum-exp: two passes over each tile in the first-level cache; the tiles' states are merged.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "ops/math/reduce/kernel.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/reduce/moments.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "ops/math/reduce/tile.h"
#include "simd/float_sums.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kAtATime = 1024;

template <typename T>
HWY_INLINE auto load_computed(const hn::ScalableTag<double> d, const T* from) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return hn::LoadU(d, from);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), from));
  }
}

// Sums f(v) of contiguous values in float64; `of_vector` and `of_value` compute the same function.
template <typename T, typename OfVector, typename OfValue>
HWY_INLINE double sum_over(const T* HWY_RESTRICT v, size_t count, OfVector&& of_vector, OfValue&& of_value) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d);
  auto b = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::Add(a, of_vector(load_computed(d, v + i)));
    b = hn::Add(b, of_vector(load_computed(d, v + i + lanes)));
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
  for (; i < count; ++i) sum += of_value(static_cast<double>(v[i]));
  return sum;
}

// Count, mean and sum of squared deviations (Chan's formula merges parts).
template <typename T, typename M>
struct Moments {
  using Value = T;
  struct State {
    double count;
    M mean;
    double squares;
  };
  using First = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>, float, double>;
  using Second = T;

  static HWY_INLINE double square(double x) { return x * x; }
  static HWY_INLINE double square(std::complex<double> x) { return std::norm(x); }

  static void start(State& s) { s = State{}; }
  static void merge(State& s, const State& o) {
    if (o.count == 0) return;
    if (s.count == 0) {  // the square of a distance from 0 may overflow
      s = o;
      return;
    }
    const double count = s.count + o.count;
    const M distance = o.mean - s.mean;
    s.mean += distance * (o.count / count);
    s.squares += o.squares + square(distance) * (s.count * o.count / count);
    s.count = count;
  }
  // The mean of equal numbers must be exactly that number, so that deviations are 0: doubles are summed as differences
  // from the first one.
  static HWY_INLINE double mean_of(const T* v, size_t count) {
    const double n = static_cast<double>(count);
    if constexpr (std::is_same_v<T, double>) {
      const hn::ScalableTag<double> d;
      const auto first = hn::Set(d, v[0]);
      const double distances = sum_over(
          v, count, [&](auto x) HWY_ATTR { return hn::Sub(x, first); }, [&](double x) { return x - v[0]; });
      if (std::isfinite(distances)) return v[0] + distances / n;
    }
    size_t i = 0;
    double sum = 0;
    if constexpr (std::is_same_v<T, float>) {
      const auto value = [v](auto d, size_t at) HWY_ATTR { return hn::LoadU(d, v + at); };
      i = sum_trusted_eights(count, value, is_sum_exact_enough, &sum);
    }
    sum += sum_over(
        v + i, count - i, [](auto x) HWY_ATTR { return x; }, [](double x) { return x; });
    return sum / n;
  }
  static HWY_INLINE State moments_of(const T* v, size_t count) {
    State part{static_cast<double>(count), M(0), 0};
    if constexpr (std::is_floating_point_v<T>) {
      const hn::ScalableTag<double> d;
      const double mean = mean_of(v, count);
      if constexpr (std::is_same_v<T, float>) {
        part.mean = mean;
        if (sum_squared_distances(v, count, mean, &part.squares)) return part;
      }
      const auto means = hn::Set(d, mean);
      part.squares = sum_over(
          v, count,
          [&](auto x) HWY_ATTR {
            const auto distance = hn::Sub(x, means);
            return hn::Mul(distance, distance);
          },
          [&](double x) { return square(x - mean); });
      part.mean = mean;
    } else {
      const M first = M(v[0]);
      for (size_t i = 0; i < count; ++i) part.mean += M(v[i]) - first;
      part.mean = first + part.mean / part.count;
      for (size_t i = 0; i < count; ++i) part.squares += square(M(v[i]) - part.mean);
    }
    return part;
  }
  static HWY_INLINE void row(State& s, const T* v, size_t count, int64_t, const double*) {
    for (size_t i = 0; i < count; i += kAtATime) merge(s, moments_of(v + i, std::min(kAtATime, count - i)));
  }
  static void finish(const State& s, const double* k, First* first, Second* second) {
    if (first != nullptr) {
      const double variance = s.squares / std::max(0.0, s.count - k[0]);
      *first = static_cast<First>(k[1] != 0 ? std::sqrt(variance) : variance);
    }
    if (second == nullptr) return;
    *second = s.count == 0 ? Second(std::numeric_limits<First>::quiet_NaN()) : Second(s.mean);
  }
};

// The maximum, and the sum of exponentials relative to it. A maximum that is not finite is the result.
template <typename T>
struct LogSumExp {
  using Value = T;
  struct State {
    double largest;
    double sum;
  };
  using First = T;
  using Second = T;

  static void start(State& s) { s = {-std::numeric_limits<double>::infinity(), 0}; }
  static void merge(State& s, const State& o) {
    if (std::isnan(s.largest)) return;
    if (!(o.largest <= s.largest)) {
      s.sum = o.sum + (std::isfinite(o.largest) ? s.sum * std::exp(s.largest - o.largest) : 0);
      s.largest = o.largest;
    } else if (std::isfinite(s.largest)) {
      s.sum += o.sum * std::exp(o.largest - s.largest);
    }
  }
  static HWY_INLINE State part_of(const T* HWY_RESTRICT v, size_t count) {
    const hn::ScalableTag<T> d;
    const size_t lanes = hn::Lanes(d);
    T largest = v[0];
    size_t i = 0;
    if (count >= lanes) {
      auto best = hn::LoadU(d, v);
      auto is_number = hn::Eq(best, best);
      for (; i + lanes <= count; i += lanes) {
        const auto x = hn::LoadU(d, v + i);
        is_number = hn::And(is_number, hn::Eq(x, x));
        best = hn::Max(best, x);
      }
      if (!hn::AllTrue(d, is_number)) return {std::numeric_limits<double>::quiet_NaN(), 0};
      largest = hn::GetLane(hn::MaxOfLanes(d, best));
    }
    for (; i < count; ++i) largest = v[i] > largest || v[i] != v[i] ? v[i] : largest;
    State part{static_cast<double>(largest), 0};
    if (!std::isfinite(largest)) return part;
    const auto shift = hn::Set(d, largest);
    auto sums = hn::Zero(d);  // of at most kAtATime / lanes terms of at most 1 each
    for (i = 0; i + lanes <= count; i += lanes) sums = hn::Add(sums, hn::Exp(d, hn::Sub(hn::LoadU(d, v + i), shift)));
    part.sum = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sums)));
    for (; i < count; ++i) part.sum += std::exp(static_cast<double>(v[i]) - part.largest);
    return part;
  }
  static HWY_INLINE void row(State& s, const T* v, size_t count, int64_t, const double*) {
    for (size_t i = 0; i < count; i += kAtATime) merge(s, part_of(v + i, std::min(kAtATime, count - i)));
  }
  static void finish(const State& s, const double*, T* first, T*) {
    if (first == nullptr) return;
    *first = static_cast<T>(std::isfinite(s.largest) ? s.largest + std::log(s.sum) : s.largest);
  }
};

ReduceKernel kernel_for(ReduceOp op, ComputeType compute_type) {
  return with_compute_type(compute_type, [op]<typename T>() -> ReduceKernel {
    if constexpr (std::is_floating_point_v<T>) {
      if (op == ReduceOp::kMoments) return kernel_of<Moments<T, double>>();
      if (op == ReduceOp::kLogSumExp) return kernel_of<LogSumExp<T>>();
    } else if constexpr (!std::is_arithmetic_v<T>) {
      if (op == ReduceOp::kMoments) return kernel_of<Moments<T, std::complex<double>>>();
    }
    return {};
  });
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

ReduceKernel moment_kernel(ReduceOp op, ComputeType compute_type) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(op, compute_type);
}

}  // namespace softnpu
#endif
