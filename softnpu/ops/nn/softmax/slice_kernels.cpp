#include "ops/nn/softmax/slice_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd/non_temporal.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/softmax/slice_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "simd/math/exp32.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The number of values that may be summed in T before the sum is added in float64.
constexpr size_t kPlain = 1024;

// Calls body(d, i) for vectors of [i, count), with shorter and shorter ones at the end.
template <typename T, size_t kLanes, typename Body>
HWY_INLINE void for_rest(size_t i, size_t count, const Body& body) {
  const hn::CappedTag<T, kLanes> d;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) body(d, i);
  if constexpr (kLanes > 1) for_rest<T, kLanes / 2>(i, count, body);
}
template <typename T, typename Body>
HWY_INLINE void for_vectors(size_t count, const Body& body) {
  for_rest<T, hn::MaxLanes(hn::ScalableTag<T>())>(0, count, body);
}

template <typename T>
T largest(const T* HWY_RESTRICT x, size_t count) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  T best = -std::numeric_limits<T>::infinity();
  size_t i = 0;
  auto a = hn::Set(d, best);
  auto b = a;
  auto is_number = hn::Eq(a, a);
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    // Prefetches contiguous lines: hardware prefetching stops at the end of a page.
    hwy::Prefetch(reinterpret_cast<const char*>(x + i) + kAheadBytes);
    hwy::Prefetch(reinterpret_cast<const char*>(x + i + lanes) + kAheadBytes);
    const auto u = hn::LoadU(d, x + i);
    const auto v = hn::LoadU(d, x + i + lanes);
    is_number = hn::And(is_number, hn::And(hn::Eq(u, u), hn::Eq(v, v)));
    a = hn::Max(a, u);
    b = hn::Max(b, v);
  }
  for (; i + lanes <= count; i += lanes) {
    const auto u = hn::LoadU(d, x + i);
    is_number = hn::And(is_number, hn::Eq(u, u));
    a = hn::Max(a, u);
  }
  if (!hn::AllTrue(d, is_number)) return std::numeric_limits<T>::quiet_NaN();
  best = hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
  for (; i < count; ++i) {
    if (x[i] != x[i]) return x[i];
    best = std::max(best, x[i]);
  }
  return best;
}

// Sums f(d, i) over [0, count).
template <typename T, typename F>
HWY_INLINE double sum_of(size_t count, F&& f) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  double total = 0;
  for (size_t first = 0; first < count; first += kPlain) {
    const size_t last = HWY_MIN(count, first + kPlain);
    auto a = hn::Zero(d);
    auto b = hn::Zero(d);
    size_t i = first;
    for (; i + 2 * lanes <= last; i += 2 * lanes) {
      a = hn::Add(a, f(d, i));
      b = hn::Add(b, f(d, i + lanes));
    }
    double part = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b))));
    // In float64: of a row with one large term the logarithm of the sum is that of 1 and little more.
    for_rest<T, hn::MaxLanes(d)>(i, last, [&](auto rest, size_t at) HWY_ATTR {
      HWY_ALIGN T terms[hn::MaxLanes(hn::ScalableTag<T>())];
      hn::Store(f(rest, at), rest, terms);
      for (size_t j = 0; j < hn::Lanes(rest); ++j) part += static_cast<double>(terms[j]);
    });
    total += part;
  }
  return total;
}

// exp(v) for v <= 0 or NaN. Below -87 the result is subnormal: rare, and left to Highway.
template <typename D, typename V>
HWY_INLINE V exp_of_negative(D d, V v) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
    const auto held = hn::Ge(v, hn::Set(d, -87.0F));
    if (HWY_LIKELY(hn::AllTrue(d, held))) return exp32(d, v);
    return hn::IfThenElse(held, exp32(d, v), hn::Exp(d, v));
  }
  return hn::Exp(d, v);
}

template <typename T>
double sum(const T* HWY_RESTRICT x, size_t count, T largest) {
  return sum_of<T>(count, [=](auto d, size_t i) HWY_ATTR {
    return exp_of_negative(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, largest)));
  });
}

template <typename T>
void fill_nan(size_t count, T* y) {
  std::fill_n(y, count, std::numeric_limits<T>::quiet_NaN());
}

template <typename T>
void results(const T* x, size_t count, T largest, double sum, bool log, T* y) {
  if (!std::isfinite(largest)) return fill_nan(count, y);
  if (log) {
    // Two subtractions: the maximum may be far larger than the logarithm.
    const T offset = static_cast<T>(std::log(sum));
    return for_vectors<T>(count, [=](auto d, size_t i) HWY_ATTR {
      hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(d, x + i), hn::Set(d, largest)), hn::Set(d, offset)), d, y + i);
    });
  }
  const T scale = static_cast<T>(1 / sum);
  for_vectors<T>(count, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(exp_of_negative(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, largest))), hn::Set(d, scale)), d,
               y + i);
  });
}

template <typename T>
void whole(const T* x, size_t count, bool log, T* y) {
  const T best = largest(x, count);
  if (!std::isfinite(best)) return fill_nan(count, y);
  if (log) return results(x, count, best, sum(x, count, best), true, y);
  const double total = sum_of<T>(count, [=](auto d, size_t i) HWY_ATTR {
    const auto e = exp_of_negative(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, best)));
    hn::StoreU(e, d, y + i);
    return e;
  });
  const T scale = static_cast<T>(1 / total);
  for_vectors<T>(
      count, [=](auto d, size_t i) HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, y + i), hn::Set(d, scale)), d, y + i); });
}

template <typename T>
void largest_across(const T* HWY_RESTRICT x, size_t count, T* HWY_RESTRICT largest) {
  for_vectors<T>(count, [=](auto d, size_t i) HWY_ATTR {
    const auto v = hn::LoadU(d, x + i);
    const auto best = hn::LoadU(d, largest + i);
    const auto stays = hn::AndNot(hn::Gt(v, best), hn::Eq(v, v));  // v if it is NaN
    hn::StoreU(hn::IfThenElse(stays, best, v), d, largest + i);
  });
}

template <typename T>
void sum_across(const T* HWY_RESTRICT x, size_t count, const T* HWY_RESTRICT largest, T* HWY_RESTRICT sum) {
  for_vectors<T>(count, [=](auto d, size_t i) HWY_ATTR {
    const auto e = exp_of_negative(d, hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, largest + i)));
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), e), d, sum + i);
  });
}

template <typename T>
void results_across(const T* x, size_t count, const T* largest, const T* scale, bool log, T* y) {
  for_vectors<T>(count, [=](auto d, size_t i) HWY_ATTR {
    const auto best = hn::LoadU(d, largest + i);
    const auto v = hn::Sub(hn::LoadU(d, x + i), best);
    const auto s = hn::LoadU(d, scale + i);
    const auto result = log ? hn::Sub(v, s) : hn::Mul(exp_of_negative(d, v), s);
    const auto is_finite = hn::Le(hn::Abs(best), hn::Set(d, std::numeric_limits<T>::max()));
    hn::StoreU(hn::IfThenElse(is_finite, result, hn::Set(d, std::numeric_limits<T>::quiet_NaN())), d, y + i);
  });
}

template <typename T>
double gradient_sum(const T* grad, const T* y, size_t count, bool log) {
  if (log) {
    return sum_of<T>(count, [=](auto d, size_t i) HWY_ATTR { return hn::LoadU(d, grad + i); });
  }
  return sum_of<T>(count,
                   [=](auto d, size_t i) HWY_ATTR { return hn::Mul(hn::LoadU(d, grad + i), hn::LoadU(d, y + i)); });
}

// Keeps NaN, which the polynomial does not.
template <typename D, typename V>
HWY_INLINE V exp_or_nan(D d, V v) {
  using T = hn::TFromD<D>;
  constexpr auto kLargest = static_cast<T>(sizeof(T) == sizeof(float) ? 88.72283 : 709.782712893384);
  const auto exp = hn::IfThenElse(hn::Gt(v, hn::Set(d, kLargest)), hn::Inf(d), hn::Exp(d, v));
  return hn::IfThenElse(hn::Eq(v, v), exp, v);
}

template <typename D, typename V>
HWY_INLINE V gradient_of(D d, V grad, V y, V sum, bool log) {
  return log ? hn::Sub(grad, hn::Mul(exp_or_nan(d, y), sum)) : hn::Mul(hn::Sub(grad, sum), y);
}

template <typename T>
void gradient(const T* grad, const T* y, size_t count, double sum, bool log, T* out) {
  for_vectors<T>(count, [=](auto d, size_t i) HWY_ATTR {
    const auto total = hn::Set(d, static_cast<T>(sum));
    hn::StoreU(gradient_of(d, hn::LoadU(d, grad + i), hn::LoadU(d, y + i), total, log), d, out + i);
  });
}

template <typename T>
void gradient_sum_across(const T* grad, const T* y, size_t count, bool log, T* sum) {
  for_vectors<T>(count, [=](auto d, size_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, grad + i);
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), log ? g : hn::Mul(g, hn::LoadU(d, y + i))), d, sum + i);
  });
}

template <typename T>
void gradient_across(const T* grad, const T* y, size_t count, const T* sum, bool log, T* out) {
  for_vectors<T>(count, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(gradient_of(d, hn::LoadU(d, grad + i), hn::LoadU(d, y + i), hn::LoadU(d, sum + i), log), d, out + i);
  });
}

// Calls body(mask of the lanes, i) for the vectors of a short line, the last one with fewer lanes.
template <typename T, typename Body>
HWY_INLINE void for_masked(size_t count, const Body& body) {
  const hn::ScalableTag<T> d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) body(hn::FirstN(d, count - i), i);
}

// Short lines, one behind another: statistics of several lines at once, since one logarithm or division takes as long
// as that of a vector.
template <typename T>
void short_lines(const T* x, size_t lines, size_t length, bool log, T* y) {
  const hn::ScalableTag<T> d;
  const hn::ScalableTag<double> dd;
  HWY_ALIGN double sums[hn::MaxLanes(dd)];
  T best[hn::MaxLanes(dd)];
  const auto infinity = hn::Inf(d);
  for (size_t first = 0; first < lines; first += hn::Lanes(dd)) {
    const size_t here = HWY_MIN(hn::Lanes(dd), lines - first);
    hn::Store(hn::Set(dd, 1), dd, sums);
    for (size_t line = 0; line < here; ++line) {
      const T* const from = x + (first + line) * length;
      T* const to = y + (first + line) * length;
      auto most = hn::Neg(infinity);
      auto is_number = hn::Eq(most, most);
      for_masked<T>(length, [&](auto mask, size_t i) HWY_ATTR {
        const auto v = hn::IfThenElse(mask, hn::MaskedLoad(mask, d, from + i), hn::Neg(infinity));
        is_number = hn::And(is_number, hn::Eq(v, v));
        most = hn::Max(most, v);
      });
      const bool is_defined = hn::AllTrue(d, is_number);
      best[line] = is_defined ? hn::GetLane(hn::MaxOfLanes(d, most)) : std::numeric_limits<T>::quiet_NaN();
      if (!std::isfinite(best[line])) continue;
      // Without the term of one maximum, which is 1: of a line with one large term the logarithm of the sum is small.
      auto total = hn::Zero(d);
      size_t largest = 0;
      for_masked<T>(length, [&](auto mask, size_t i) HWY_ATTR {
        const auto v = hn::Sub(hn::MaskedLoad(mask, d, from + i), hn::Set(d, best[line]));
        const auto is_largest = hn::And(mask, hn::Eq(v, hn::Zero(d)));
        largest += hn::CountTrue(d, is_largest);
        const auto e = hn::IfThenElseZero(mask, exp_of_negative(d, hn::IfThenElseZero(mask, v)));
        if (!log) hn::BlendedStore(e, mask, d, to + i);
        total = hn::Add(total, hn::IfThenZeroElse(is_largest, e));
      });
      sums[line] = static_cast<double>(largest - 1) + static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total)));
    }
    const auto more = hn::Load(dd, sums);
    const auto one = hn::Set(dd, 1);
    hn::Store(log ? hn::Log1p(dd, more) : hn::Div(one, hn::Add(one, more)), dd, sums);
    for (size_t line = 0; line < here; ++line) {
      const T* const from = x + (first + line) * length;
      T* const to = y + (first + line) * length;
      if (!std::isfinite(best[line])) {
        fill_nan(length, to);
        continue;
      }
      const auto scale = hn::Set(d, static_cast<T>(sums[line]));
      for_masked<T>(length, [&](auto mask, size_t i) HWY_ATTR {
        const auto result = log ? hn::Sub(hn::Sub(hn::MaskedLoad(mask, d, from + i), hn::Set(d, best[line])), scale)
                                : hn::Mul(hn::MaskedLoad(mask, d, to + i), scale);
        hn::BlendedStore(result, mask, d, to + i);
      });
    }
  }
}

template <typename T>
void short_gradients(const T* grad, const T* y, size_t lines, size_t length, bool log, T* out) {
  const hn::ScalableTag<T> d;
  for (size_t line = 0; line < lines; ++line, grad += length, y += length, out += length) {
    auto total = hn::Zero(d);
    for_masked<T>(length, [&](auto mask, size_t i) HWY_ATTR {
      const auto g = hn::MaskedLoad(mask, d, grad + i);
      total = hn::Add(total, log ? g : hn::Mul(g, hn::MaskedLoad(mask, d, y + i)));
    });
    const auto sum = hn::SumOfLanes(d, total);
    for_masked<T>(length, [&](auto mask, size_t i) HWY_ATTR {
      const auto result = gradient_of(d, hn::MaskedLoad(mask, d, grad + i), hn::MaskedLoad(mask, d, y + i), sum, log);
      hn::BlendedStore(result, mask, d, out + i);
    });
  }
}

template <typename T>
SoftmaxLines<T> lines() {
  return {&whole<T>,
          &largest<T>,
          &sum<T>,
          &results<T>,
          &largest_across<T>,
          &sum_across<T>,
          &results_across<T>,
          &gradient_sum<T>,
          &gradient<T>,
          &gradient_sum_across<T>,
          &gradient_across<T>,
          &short_lines<T>,
          &short_gradients<T>};
}

SoftmaxLines<float> lines_float() { return lines<float>(); }
SoftmaxLines<double> lines_double() { return lines<double>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(lines_float);
HWY_EXPORT(lines_double);

}  // namespace

SoftmaxLines<float> softmax_lines_float() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(lines_float)();
}

SoftmaxLines<double> softmax_lines_double() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(lines_double)();
}

}  // namespace softnpu
#endif
