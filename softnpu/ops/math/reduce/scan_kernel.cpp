#include <complex>
#include <limits>
#include <type_traits>

#include "ops/math/reduce/scan.h"

namespace softnpu {
namespace {

// The accumulator type for T.
template <typename T>
struct AccumulatorOf {
  using type = std::conditional_t<std::is_integral_v<T>,
                                  std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>, double>;
};
template <typename T>
struct AccumulatorOf<std::complex<T>> {
  using type = std::complex<double>;
};

template <typename T>
T result_of(typename AccumulatorOf<T>::type a) {
  return static_cast<T>(a);
}

template <typename T>
struct Sum {
  using Value = T;
  using State = typename AccumulatorOf<T>::type;
  static void start(State& s) { s = State(0); }
  static void step(State& s, T& value, int64_t*, int64_t) {
    s += static_cast<State>(value);
    value = result_of<T>(s);
  }
};

template <typename T>
struct Prod {
  using Value = T;
  using State = typename AccumulatorOf<T>::type;
  static void start(State& s) { s = State(1); }
  static void step(State& s, T& value, int64_t*, int64_t) {
    s *= static_cast<State>(value);
    value = result_of<T>(s);
  }
};

// The last of equal values wins; a NaN stays, with the index of the last NaN.
template <typename T, bool kLargest>
struct Best {
  using Value = T;
  struct State {
    T best;
    int64_t index;  // -1: no value yet
  };
  static void start(State& s) { s = {T(0), -1}; }
  static void step(State& s, T& value, int64_t* index, int64_t at) {
    const bool wins =
        s.index < 0 || value != value || (s.best == s.best && (kLargest ? value >= s.best : value <= s.best));
    if (wins) s = {value, at};
    value = s.best;
    if (index != nullptr) *index = s.index;
  }
};

template <typename F>
void start(void* states, size_t count) {
  auto* s = static_cast<typename F::State*>(states);
  for (size_t i = 0; i < count; ++i) F::start(s[i]);
}

template <typename F>
void rows(void* states, void* values, int64_t* indices, size_t count, int64_t index) {
  typename F::State state = *static_cast<typename F::State*>(states);
  auto* v = static_cast<typename F::Value*>(values);
  for (size_t i = 0; i < count; ++i) {
    F::step(state, v[i], indices == nullptr ? nullptr : indices + i, index + static_cast<int64_t>(i));
  }
  *static_cast<typename F::State*>(states) = state;
}

template <typename F>
void columns(void* states, void* values, int64_t* indices, size_t count, int64_t index) {
  auto* s = static_cast<typename F::State*>(states);
  auto* v = static_cast<typename F::Value*>(values);
  for (size_t i = 0; i < count; ++i) F::step(s[i], v[i], indices == nullptr ? nullptr : indices + i, index);
}

template <typename F>
void lines(void* states, const void* const* in, void* const* out, size_t count) {
  using Value = typename F::Value;
  auto* s = static_cast<typename F::State*>(states);
  typename F::State state[kScanLines];
  const Value* from[kScanLines];
  Value* to[kScanLines];
  for (size_t k = 0; k < kScanLines; ++k) {
    state[k] = s[k];
    from[k] = static_cast<const Value*>(in[k]);
    to[k] = static_cast<Value*>(out[k]);
  }
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < kScanLines; ++k) {
      Value value = from[k][i];
      F::step(state[k], value, nullptr, 0);
      to[k][i] = value;
    }
  }
  for (size_t k = 0; k < kScanLines; ++k) s[k] = state[k];
}

template <typename T>
void total(void* state, const void* values, size_t count) {
  using State = typename Sum<T>::State;
  constexpr size_t kParts = 8;
  const auto* v = static_cast<const T*>(values);
  State parts[kParts]{};
  size_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (size_t k = 0; k < kParts; ++k) parts[k] += static_cast<State>(v[i + k]);
  }
  for (; i < count; ++i) parts[0] += static_cast<State>(v[i]);
  for (const State part : parts) *static_cast<State*>(state) += part;
}

template <typename F>
ScanKernel kernel_of() {
  static_assert(sizeof(typename F::State) <= kMaxScanStateBytes);
  return {sizeof(typename F::State), &start<F>, &rows<F>, &columns<F>, nullptr, nullptr};
}

template <typename T>
ScanKernel sum_kernel_of() {
  ScanKernel kernel = kernel_of<Sum<T>>();
  kernel.lines = &lines<Sum<T>>;
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, float>) kernel.total = &total<T>;
  return kernel;
}

template <typename T>
ScanKernel prod_kernel_of() {
  ScanKernel kernel = kernel_of<Prod<T>>();
  kernel.lines = &lines<Prod<T>>;
  return kernel;
}

}  // namespace

ScanKernel scan_kernel(ScanOp op, ComputeType compute_type) {
  return with_compute_type(compute_type, [op]<typename T>() -> ScanKernel {
    if (op == ScanOp::kSum) return sum_kernel_of<T>();
    if (op == ScanOp::kProd) return prod_kernel_of<T>();
    if constexpr (std::is_arithmetic_v<T>) {
      return op == ScanOp::kMax ? kernel_of<Best<T, true>>() : kernel_of<Best<T, false>>();
    } else {
      return {};
    }
  });
}

}  // namespace softnpu
