// Maxima and minima, and their positions.

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "ops/math/reduce/kernel.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/reduce/extremes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/math/reduce/tile.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
HWY_INLINE bool is_nan([[maybe_unused]] T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x != x;
  } else {
    return false;
  }
}

struct Largest {
  template <typename T>
  static constexpr T first() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  template <typename T>
  static HWY_INLINE bool beats(T a, T b) {
    return a > b;
  }
  static HWY_INLINE auto vector(auto a, auto b) { return hn::Max(a, b); }
  static HWY_INLINE auto beating(auto a, auto b) { return a > b; }
  static HWY_INLINE auto not_beating(auto a, auto b) { return a <= b; }
};
struct Least {
  template <typename T>
  static constexpr T first() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <typename T>
  static HWY_INLINE bool beats(T a, T b) {
    return a < b;
  }
  static HWY_INLINE auto vector(auto a, auto b) { return hn::Min(a, b); }
  static HWY_INLINE auto beating(auto a, auto b) { return a < b; }
  static HWY_INLINE auto not_beating(auto a, auto b) { return a >= b; }
};

// The better one of both (`b` if equal). A NaN in `a` stays.
template <typename F, typename T>
HWY_INLINE T better(T a, T b) {
  return (static_cast<int>(F::beats(a, b)) | static_cast<int>(is_nan(a))) != 0 ? a : b;
}

struct Itself {
  template <typename T>
  static HWY_INLINE T of(T x) {
    return x;
  }
  static HWY_INLINE auto vector(auto v) { return v; }
};
struct Magnitude {
  template <typename T>
  static HWY_INLINE auto of(T x) {
    if constexpr (std::is_arithmetic_v<T>) {
      return std::fabs(x);
    } else {
      return std::hypot(x.real(), x.imag());
    }
  }
  static HWY_INLINE auto vector(auto v) { return hn::Abs(v); }
};

// The best of contiguous values; NaN if one is NaN.
template <typename F, typename Term, typename T>
HWY_INLINE auto best_of(const T* HWY_RESTRICT v, size_t count) {
  using R = decltype(Term::of(T()));
  R best = F::template first<R>();
  size_t i = 0;
  if constexpr (std::is_floating_point_v<T>) {
    const hn::ScalableTag<T> d;
    const size_t lanes = hn::Lanes(d);
    auto a = hn::Set(d, best);
    auto b = a;
    auto is_number = hn::Eq(a, a);
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      const auto x = Term::vector(hn::LoadU(d, v + i));
      const auto y = Term::vector(hn::LoadU(d, v + i + lanes));
      is_number = hn::And(is_number, hn::And(hn::Eq(x, x), hn::Eq(y, y)));
      a = F::vector(a, x);
      b = F::vector(b, y);
    }
    if (!hn::AllTrue(d, is_number)) return std::numeric_limits<T>::quiet_NaN();
    HWY_ALIGN T lane[hn::MaxLanes(d)];
    hn::Store(F::vector(a, b), d, lane);
    for (size_t j = 0; j < lanes; ++j) best = better<F>(lane[j], best);
    for (; i < count; ++i) best = better<F>(Term::of(v[i]), best);
  } else {
    constexpr size_t kLanes = 8;
    R lane[kLanes];
    for (R& x : lane) x = best;
    for (; i + kLanes <= count; i += kLanes) {
      for (size_t j = 0; j < kLanes; ++j) lane[j] = better<F>(Term::of(v[i + j]), lane[j]);
    }
    for (const R& x : lane) best = better<F>(x, best);
    for (; i < count; ++i) best = better<F>(Term::of(v[i]), best);
  }
  return best;
}

template <typename F, typename Term, typename T>
struct Extreme {
  using Value = T;
  using State = decltype(Term::of(T()));
  using First = State;
  using Second = State;
  static void start(State& s) { s = F::template first<State>(); }
  static HWY_INLINE void add(State& s, T v, const double*) { s = better<F>(Term::of(v), s); }
  static HWY_INLINE void row(State& s, const T* v, size_t count, int64_t, const double*) {
    s = better<F>(best_of<F, Term>(v, count), s);
  }
  static void merge(State& s, const State& o) { s = better<F>(o, s); }
  static void finish(const State& s, const double*, First* first, Second*) {
    if (first != nullptr) *first = s;
  }
};

template <typename T>
struct Both {
  using Value = T;
  struct State {
    T least;
    T largest;
  };
  using First = T;
  using Second = T;
  static void start(State& s) { s = {Least::first<T>(), Largest::first<T>()}; }
  static HWY_INLINE void add(State& s, T v, const double*) {
    s.least = better<Least>(v, s.least);
    s.largest = better<Largest>(v, s.largest);
  }
  static HWY_INLINE void row(State& s, const T* v, size_t count, int64_t, const double*) {
    constexpr size_t kAtATime = 1024;  // fit the first-level cache for the second pass
    for (size_t i = 0; i < count; i += kAtATime) {
      const size_t here = HWY_MIN(kAtATime, count - i);
      s.least = better<Least>(best_of<Least, Itself>(v + i, here), s.least);
      s.largest = better<Largest>(best_of<Largest, Itself>(v + i, here), s.largest);
    }
  }
  static void merge(State& s, const State& o) {
    s.least = better<Least>(o.least, s.least);
    s.largest = better<Largest>(o.largest, s.largest);
  }
  static void finish(const State& s, const double*, T* first, T* second) {
    if (first != nullptr) *first = s.least;
    if (second != nullptr) *second = s.largest;
  }
};

template <typename F, typename T>
struct Where {
  using Value = T;
  struct State {
    T best;
    int64_t index;  // -1: no value yet
  };
  using First = T;
  using Second = int64_t;
  static void start(State& s) { s = {F::template first<T>(), -1}; }
  static HWY_INLINE bool is_new(const State& s, T v) {
    return s.index < 0 || F::beats(v, s.best) || (is_nan(v) && !is_nan(s.best));
  }
  static HWY_INLINE void row(State& s, const T* v, size_t count, int64_t index, const double*) {
    constexpr size_t kAtATime = 1024;  // fit the first-level cache for the second pass
    for (size_t i = 0; i < count; i += kAtATime) {
      const size_t here = HWY_MIN(kAtATime, count - i);
      const T best = best_of<F, Itself>(v + i, here);
      if (!is_new(s, best)) continue;
      size_t j = 0;
      while (j + 1 < here && !(is_nan(best) ? is_nan(v[i + j]) : v[i + j] == best)) ++j;
      s = {v[i + j], index + static_cast<int64_t>(i + j)};
    }
  }
  // Lanes where v replaces what is known: the first NaN does, and nothing after it.
  static HWY_INLINE auto beats_known(auto v, auto known) {
    if constexpr (std::is_floating_point_v<T>) {
      return hn::AndNot(F::not_beating(v, known), known == known);
    } else {
      return F::beating(v, known);
    }
  }
  // Reduces `count` rows, `line` bytes apart, of `lines` columns to the columns' states.
  static HWY_INLINE void columns(State* s, const char* at, ptrdiff_t line, size_t lines, size_t count, int64_t index) {
    const hn::ScalableTag<T> d;
    const hn::RebindToUnsigned<decltype(d)> whole;
    using Row = hn::TFromD<decltype(whole)>;
    HWY_ALIGN T best[hn::MaxLanes(d)];
    HWY_ALIGN Row row[hn::MaxLanes(d)];
    for (size_t i = 0; i < lines; i += hn::Lanes(d)) {
      const size_t here = HWY_MIN(hn::Lanes(d), lines - i);
      const auto load = [&](size_t r) HWY_ATTR {
        const T* from = reinterpret_cast<const T*>(at + static_cast<ptrdiff_t>(r) * line) + i;
        return here == hn::Lanes(d) ? hn::LoadU(d, from) : hn::MaskedLoad(hn::FirstN(d, here), d, from);
      };
      auto known = load(0);
      auto known_row = hn::Zero(whole);
      for (size_t r = 1; r < count; ++r) {
        const auto v = load(r);
        const auto beaten = beats_known(v, known);
        known = hn::IfThenElse(beaten, v, known);
        known_row = hn::IfThenElse(hn::RebindMask(whole, beaten), hn::Set(whole, static_cast<Row>(r)), known_row);
      }
      hn::Store(known, d, best);
      hn::Store(known_row, whole, row);
      for (size_t j = 0; j < here; ++j) merge(s[i + j], {best[j], index + static_cast<int64_t>(row[j])});
    }
  }
  static HWY_INLINE void merge(State& s, const State& o) {
    if (o.index >= 0 && is_new(s, o.best)) s = o;
  }
  static void finish(const State& s, const double*, T* first, int64_t* second) {
    if (first != nullptr) *first = s.best;
    if (second != nullptr) *second = s.index;
  }
};

ReduceKernel kernel_for(ReduceOp op, ComputeType compute_type) {
  return with_compute_type(compute_type, [op]<typename T>() -> ReduceKernel {
    if constexpr (std::is_arithmetic_v<T>) {
      switch (op) {
        case ReduceOp::kMax: return kernel_of<Extreme<Largest, Itself, T>>();
        case ReduceOp::kMin: return kernel_of<Extreme<Least, Itself, T>>();
        case ReduceOp::kMinMax: return kernel_of<Both<T>>();
        case ReduceOp::kArgMax: return kernel_of<Where<Largest, T>>();
        case ReduceOp::kArgMin: return kernel_of<Where<Least, T>>();
        default: break;
      }
    }
    if constexpr (!std::is_integral_v<T>) {
      if (op == ReduceOp::kAbsMax) return kernel_of<Extreme<Largest, Magnitude, T>>();
      if (op == ReduceOp::kAbsMin) return kernel_of<Extreme<Least, Magnitude, T>>();
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

ReduceKernel extreme_kernel(ReduceOp op, ComputeType compute_type) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(op, compute_type);
}

}  // namespace softnpu
#endif
