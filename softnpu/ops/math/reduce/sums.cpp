// Sums and products. Floating-point values are added in float64, float32 values after sums of eight in float32; float64
// values with compensation.

#include <cmath>
#include <complex>
#include <concepts>

#include "ops/math/reduce/kernel.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/reduce/sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/math/reduce/tile.h"
#include "simd/float_sums.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
constexpr bool kIsComplex = !std::is_arithmetic_v<T>;

template <typename T>
HWY_INLINE double magnitude(T x) {
  if constexpr (kIsComplex<T>) {
    return std::hypot(static_cast<double>(x.real()), static_cast<double>(x.imag()));
  } else {
    return std::fabs(static_cast<double>(x));
  }
}

// A summation term: of a float64 vector, and of a value of any type.
struct Itself {
  static HWY_INLINE auto vector(auto, auto v) { return v; }
  template <typename T>
  static HWY_INLINE auto of(T x, const double*) {
    return x;
  }
};
struct NotNan {
  static HWY_INLINE auto vector(auto, auto v) { return hn::IfThenElseZero(v == v, v); }
  template <typename T>
  static HWY_INLINE T of(T x, const double*) {
    return x == x ? x : T(0);
  }
};
struct IsNotZero {
  static HWY_INLINE auto vector(auto d, auto v) { return hn::IfThenZeroElse(v == hn::Zero(d), hn::Set(d, 1.0)); }
  template <typename T>
  static HWY_INLINE double of(T x, const double*) {
    return x != T(0) ? 1.0 : 0.0;
  }
};
struct Magnitude {
  static HWY_INLINE auto vector(auto, auto v) { return hn::Abs(v); }
  static HWY_INLINE double of(auto x, const double*) { return magnitude(x); }
};
struct Square {
  static HWY_INLINE auto vector(auto, auto v) { return v * v; }
  template <typename T>
  static HWY_INLINE double of(T x, const double*) {
    if constexpr (kIsComplex<T>) {
      const double re = x.real();
      const double im = x.imag();
      return re * re + im * im;
    } else {
      return static_cast<double>(x) * static_cast<double>(x);
    }
  }
};
struct Power {
  static HWY_INLINE double of(auto x, const double* k) { return std::pow(magnitude(x), k[0]); }
};

template <typename Term, typename D>
concept HasVector = requires(D d, hn::Vec<D> v) {
  Term::vector(d, v);
};

// Whether a float64 sum of float32 sums of terms is as good as a sum of terms in float64: no float32 value was
// infinite, nor, if it is a square, so small that it lost digits.
template <typename Term>
HWY_INLINE bool is_trusted(double sum) {
  if constexpr (std::is_same_v<Term, Square>) return are_products_exact_enough(sum);
  return is_sum_exact_enough(sum);
}

// Terms of float32 values whose sums may begin in float32.
template <typename Term>
constexpr bool kAddsInFloat =
    std::is_same_v<Term, Itself> || std::is_same_v<Term, Magnitude> || std::is_same_v<Term, Square>;

// The sum of terms of contiguous floating-point values, in float64.
template <typename Term, std::floating_point T>
HWY_INLINE double sum_of_widened(const T* HWY_RESTRICT v, size_t count, [[maybe_unused]] const double* k) {
  const hn::ScalableTag<double> d;
  double sum = 0;
  size_t i = 0;
  if constexpr (HasVector<Term, decltype(d)>) {
    const auto load = [&](const T* from) HWY_ATTR {
      if constexpr (sizeof(T) == sizeof(double)) {
        return hn::LoadU(d, from);
      } else {
        return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), from));
      }
    };
    const size_t lanes = hn::Lanes(d);
    auto a = hn::Zero(d);
    auto b = hn::Zero(d);
    auto c = hn::Zero(d);
    auto e = hn::Zero(d);
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      a = hn::Add(a, Term::vector(d, load(v + i)));
      b = hn::Add(b, Term::vector(d, load(v + i + lanes)));
      c = hn::Add(c, Term::vector(d, load(v + i + 2 * lanes)));
      e = hn::Add(e, Term::vector(d, load(v + i + 3 * lanes)));
    }
    for (; i + lanes <= count; i += lanes) a = hn::Add(a, Term::vector(d, load(v + i)));
    sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  }
  for (; i < count; ++i) sum += Term::of(static_cast<double>(v[i]), k);
  return sum;
}

// The sum of terms of contiguous floating-point values.
template <typename Term, std::floating_point T>
HWY_INLINE double sum_of(const T* HWY_RESTRICT v, size_t count, const double* k) {
  if constexpr (std::is_same_v<T, float> && kAddsInFloat<Term>) {
    const auto term = [v](auto d, size_t i) HWY_ATTR { return Term::vector(d, hn::LoadU(d, v + i)); };
    double sum = 0;
    const size_t eights = sum_trusted_eights(count, term, is_trusted<Term>, &sum);
    return eights == count ? sum : sum + sum_of_widened<Term>(v + eights, count - eights, k);
  }
  return sum_of_widened<Term>(v, count, k);
}

// A sum in float64.
struct Widened1 {
  double sum;
  HWY_INLINE void add(double x) { sum += x; }
  HWY_INLINE void merge(const Widened1& other) { sum += other.sum; }
  HWY_INLINE double value() const { return sum; }
};

// The same with the rounding errors (Knuth's two-sum). After an infinity `lost` is meaningless.
struct Widened2 {
  double sum;
  double lost;
  HWY_INLINE void add(double x) {
    const double t = sum + x;
    const double z = t - sum;
    lost += (sum - (t - z)) + (x - z);
    sum = t;
  }
  HWY_INLINE void merge(const Widened2& other) {
    add(other.sum);
    lost += other.lost;
  }
  HWY_INLINE double value() const { return std::isfinite(sum) ? sum + lost : sum; }
};

// The number of values that a plain loop may add before the compensated sum, or a check for infinities, gets them.
constexpr size_t kPlain = 512;
constexpr size_t kPlainFloats = 4096;

template <typename T>
using Exact = std::conditional_t<std::is_same_v<T, double>, Widened2, Widened1>;

// Sums of real terms of values of T, in the type of T or of its magnitude.
template <typename Term, typename T, typename R = T>
struct RealSum {
  using Value = T;
  using State = Exact<R>;
  using First = R;
  using Second = R;
  static void start(State& s) { s = State{}; }
  static HWY_INLINE void add(State& s, T v, const double* k) { s.add(static_cast<double>(Term::of(v, k))); }
  static HWY_INLINE void row(State& s, const T* v, size_t count, int64_t, const double* k) {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr size_t kStep = std::is_same_v<T, float> ? kPlainFloats : kPlain;
      for (size_t i = 0; i < count; i += kStep) s.add(sum_of<Term>(v + i, HWY_MIN(kStep, count - i), k));
    } else {
      for (size_t i = 0; i < count; ++i) add(s, v[i], k);
    }
  }
  // Adds eight rows, `line` bytes apart, of `count` columns to the columns' states.
  static HWY_INLINE void add_eight(State* HWY_RESTRICT s, const char* at, ptrdiff_t line, size_t count,
                                   const double* k) requires(std::is_same_v<T, float>&& std::is_same_v<Term, Itself>&&
                                                                 std::is_same_v<State, Widened1>) {
    const hn::ScalableTag<float> d;
    const hn::ScalableTag<double> widened;
    const size_t lanes = hn::Lanes(d);
    const auto row = [&](ptrdiff_t r) { return reinterpret_cast<const float*>(at + r * line); };
    auto* const sums = reinterpret_cast<double*>(s);
    size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      const auto pair = [&](ptrdiff_t r)
                            HWY_ATTR { return hn::Add(hn::LoadU(d, row(r) + i), hn::LoadU(d, row(r + 1) + i)); };
      const auto sum = hn::Add(hn::Add(pair(0), pair(2)), hn::Add(pair(4), pair(6)));
      if (!hn::AllTrue(d, hn::IsFinite(sum))) [[unlikely]] {
        for (ptrdiff_t r = 0; r < 8; ++r) {
          for (size_t j = i; j < i + lanes; ++j) add(s[j], row(r)[j], k);
        }
        continue;
      }
      hn::StoreU(hn::Add(hn::LoadU(widened, sums + i), lower_half(sum)), widened, sums + i);
      double* const upper = sums + i + lanes / 2;
      hn::StoreU(hn::Add(hn::LoadU(widened, upper), upper_half(sum)), widened, upper);
    }
    for (; i < count; ++i) {
      for (ptrdiff_t r = 0; r < 8; ++r) add(s[i], row(r)[i], k);
    }
  }
  static void merge(State& s, const State& o) { s.merge(o); }
  static HWY_INLINE void finish(const State& s, const double* k, R* first, R*) {
    if (first != nullptr) *first = static_cast<R>(s.value() / k[0]);
  }
};

template <typename Term, typename T, typename R = T>
struct Root : RealSum<Term, T, R> {
  using Base = RealSum<Term, T, R>;
  static void finish(const typename Base::State& s, const double*, R* first, R*) {
    if (first != nullptr) *first = static_cast<R>(std::sqrt(s.value()));
  }
};

template <typename Term, typename T, typename R = T>
struct PowerRoot : RealSum<Term, T, R> {
  using Base = RealSum<Term, T, R>;
  static void finish(const typename Base::State& s, const double* k, R* first, R*) {
    if (first != nullptr) *first = static_cast<R>(std::pow(s.value(), 1 / k[0]));
  }
};

// Without a divisor.
template <typename Term, typename T, typename R = T>
struct Total : RealSum<Term, T, R> {
  using Base = RealSum<Term, T, R>;
  static void finish(const typename Base::State& s, const double*, R* first, R*) {
    if (first != nullptr) *first = static_cast<R>(s.value());
  }
};

template <typename Term, typename T>
struct ComplexSum {
  using Value = T;
  using Real = typename T::value_type;
  struct State {
    Exact<Real> re;
    Exact<Real> im;
  };
  using First = T;
  using Second = T;
  static void start(State& s) { s = State{}; }
  static HWY_INLINE void add(State& s, T v, const double* k) {
    s.re.add(Term::of(v.real(), k));
    s.im.add(Term::of(v.imag(), k));
  }
  static HWY_INLINE void row(State& s, const T* v, size_t count, int64_t, const double* k) {
    for (size_t i = 0; i < count; ++i) add(s, v[i], k);
  }
  static void merge(State& s, const State& o) {
    s.re.merge(o.re);
    s.im.merge(o.im);
  }
  static void finish(const State& s, const double* k, T* first, T*) {
    if (first == nullptr) return;
    *first = T(static_cast<Real>(s.re.value() / k[0]), static_cast<Real>(s.im.value() / k[0]));
  }
};

// Folds values of T in an accumulator of A by F::of.
template <typename F, typename T, typename A>
struct Fold {
  using Value = T;
  using State = A;
  using First = T;
  using Second = T;
  static void start(State& s) { s = F::template first<A>(); }
  static HWY_INLINE void add(State& s, T v, const double*) { s = F::of(s, static_cast<A>(v)); }
  static HWY_INLINE void row(State& s, const T* HWY_RESTRICT v, size_t count, int64_t, const double*) {
    constexpr size_t kLanes = 256 / sizeof(A);  // several vectors, since one waits for its last result
    A lane[kLanes];
    for (A& a : lane) a = F::template first<A>();
    size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (size_t j = 0; j < kLanes; ++j) lane[j] = F::of(lane[j], static_cast<A>(v[i + j]));
    }
    for (; i < count; ++i) lane[0] = F::of(lane[0], static_cast<A>(v[i]));
    for (const A& a : lane) s = F::of(s, a);
  }
  static void merge(State& s, const State& o) { s = F::of(s, o); }
  static void finish(const State& s, const double*, T* first, T*) {
    if (first != nullptr) *first = static_cast<T>(s);
  }
};

struct Plus {
  template <typename A>
  static HWY_INLINE A first() {
    return A(0);
  }
  template <typename A>
  static HWY_INLINE A of(A a, A b) {
    return static_cast<A>(a + b);
  }
};
struct Times {
  template <typename A>
  static HWY_INLINE A first() {
    return A(1);
  }
  template <typename A>
  static HWY_INLINE A of(A a, A b) {
    return static_cast<A>(a * b);
  }
};
struct Or {
  template <typename A>
  static HWY_INLINE A first() {
    return A(0);
  }
  template <typename A>
  static HWY_INLINE A of(A a, A b) {
    return a | b;
  }
};
struct And {
  template <typename A>
  static HWY_INLINE A first() {
    return A(1);
  }
  template <typename A>
  static HWY_INLINE A of(A a, A b) {
    return a & b;
  }
};

template <typename T>
ReduceKernel kernel_for_integers(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kNansum: return kernel_of<Fold<Plus, T, T>>();
    case ReduceOp::kProd: return kernel_of<Fold<Times, T, T>>();
    case ReduceOp::kAny: return kernel_of<Fold<Or, T, T>>();
    case ReduceOp::kAll: return kernel_of<Fold<And, T, T>>();
    default: return {};
  }
}

template <typename T>
ReduceKernel kernel_for_reals(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum: return kernel_of<RealSum<Itself, T>>();
    case ReduceOp::kNansum: return kernel_of<RealSum<NotNan, T>>();
    case ReduceOp::kProd: return kernel_of<Fold<Times, T, double>>();
    case ReduceOp::kCount: return kernel_of<Total<IsNotZero, T>>();
    case ReduceOp::kAbsSum: return kernel_of<Total<Magnitude, T>>();
    case ReduceOp::kSquareRoot: return kernel_of<Root<Square, T>>();
    case ReduceOp::kPower: return kernel_of<PowerRoot<Power, T>>();
    default: return {};
  }
}

template <typename T>
ReduceKernel kernel_for_complex(ReduceOp op) {
  using R = typename T::value_type;
  switch (op) {
    case ReduceOp::kSum: return kernel_of<ComplexSum<Itself, T>>();
    case ReduceOp::kProd: return kernel_of<Fold<Times, T, std::complex<double>>>();
    case ReduceOp::kCount: return kernel_of<Total<IsNotZero, T, R>>();
    case ReduceOp::kAbsSum: return kernel_of<Total<Magnitude, T, R>>();
    case ReduceOp::kSquareRoot: return kernel_of<Root<Square, T, R>>();
    case ReduceOp::kPower: return kernel_of<PowerRoot<Power, T, R>>();
    default: return {};
  }
}

ReduceKernel kernel_for(ReduceOp op, ComputeType compute_type) {
  return with_compute_type(compute_type, [op]<typename T>() {
    if constexpr (kIsComplex<T>) {
      return kernel_for_complex<T>(op);
    } else if constexpr (std::is_floating_point_v<T>) {
      return kernel_for_reals<T>(op);
    } else {
      return kernel_for_integers<T>(op);
    }
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

ReduceKernel sum_kernel(ReduceOp op, ComputeType compute_type) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(op, compute_type);
}

}  // namespace softnpu
#endif
