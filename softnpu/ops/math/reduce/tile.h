// Loops over tiles of values. Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_OPS_REDUCE_TILE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_OPS_REDUCE_TILE_H_
#undef SOFTNPU_OPS_REDUCE_TILE_H_
#else
#define SOFTNPU_OPS_REDUCE_TILE_H_
#endif

#include "ops/math/reduce/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {

// F must have: Value, State, start(State&), row(State&, const Value*, count, index, k), merge(State&, const State&),
// finish(const State&, k, First*, Second*); and add(State&, value) if adding a single value is cheap, add_eight if
// eight rows at once are cheaper, columns(State*, rows, line, lines, count, index) if it reduces columns by itself.
template <typename F>
concept AddsOne = requires(typename F::State& state, typename F::Value value, const double* k) {
  F::add(state, value, k);
};

template <typename F>
concept AddsEight = requires(typename F::State* states, const char* at, const double* k) {
  F::add_eight(states, at, ptrdiff_t{}, size_t{}, k);
};

template <typename F>
concept ReducesColumns = requires(typename F::State* states, const char* at) {
  F::columns(states, at, ptrdiff_t{}, size_t{}, size_t{}, int64_t{});
};

template <typename F>
void start_states(void* states, size_t count) {
  auto* s = static_cast<typename F::State*>(states);
  for (size_t i = 0; i < count; ++i) F::start(s[i]);
}

template <typename F>
void reduce_rows(void* states, const void* values, ptrdiff_t line, size_t lines, size_t count, int64_t index,
                 const double* k) {
  auto* s = static_cast<typename F::State*>(states);
  const char* at = static_cast<const char*>(values);
  for (size_t i = 0; i < lines; ++i, at += line) {
    F::row(s[i], reinterpret_cast<const typename F::Value*>(at), count, index, k);
  }
}

template <typename F>
void reduce_columns(void* states, const void* values, ptrdiff_t line, size_t lines, size_t count, int64_t index,
                    const double* k) {
  using T = typename F::Value;
  auto* HWY_RESTRICT s = static_cast<typename F::State*>(states);
  const char* at = static_cast<const char*>(values);
  if constexpr (ReducesColumns<F>) {
    constexpr size_t kAtATime = 1 << 20;  // whose numbers fit into 32 bits
    for (size_t r = 0; r < count; r += kAtATime, at += static_cast<ptrdiff_t>(kAtATime) * line) {
      F::columns(s, at, line, lines, HWY_MIN(kAtATime, count - r), index + static_cast<int64_t>(r));
    }
  } else if constexpr (AddsOne<F>) {
    (void)index;
    size_t r = 0;
    if constexpr (AddsEight<F>) {
      for (; r + 8 <= count; r += 8, at += 8 * line) F::add_eight(s, at, line, lines, k);
    }
    for (; r + 4 <= count; r += 4, at += 4 * line) {
      const T* HWY_RESTRICT a = reinterpret_cast<const T*>(at);
      const T* HWY_RESTRICT b = reinterpret_cast<const T*>(at + line);
      const T* HWY_RESTRICT c = reinterpret_cast<const T*>(at + 2 * line);
      const T* HWY_RESTRICT d = reinterpret_cast<const T*>(at + 3 * line);
#pragma GCC ivdep
      for (size_t i = 0; i < lines; ++i) {
        typename F::State state = s[i];
        F::add(state, a[i], k);
        F::add(state, b[i], k);
        F::add(state, c[i], k);
        F::add(state, d[i], k);
        s[i] = state;
      }
    }
    for (; r < count; ++r, at += line) {
      const T* HWY_RESTRICT a = reinterpret_cast<const T*>(at);
#pragma GCC ivdep
      for (size_t i = 0; i < lines; ++i) F::add(s[i], a[i], k);
    }
  } else {
    // Transposes columns to rows, as many values at a time as fit the first-level cache.
    constexpr size_t kAtATime = 256;
    T row[kAtATime];
    for (size_t r = 0; r < count; r += kAtATime, at += static_cast<ptrdiff_t>(kAtATime) * line) {
      const size_t here = HWY_MIN(kAtATime, count - r);
      for (size_t i = 0; i < lines; ++i) {
        const char* from = at + i * sizeof(T);
        for (size_t j = 0; j < here; ++j, from += line) row[j] = *reinterpret_cast<const T*>(from);
        F::row(s[i], row, here, index + static_cast<int64_t>(r), k);
      }
    }
  }
}

template <typename F>
void merge_states(void* states, const void* others, size_t count) {
  auto* s = static_cast<typename F::State*>(states);
  const auto* o = static_cast<const typename F::State*>(others);
  for (size_t i = 0; i < count; ++i) F::merge(s[i], o[i]);
}

template <typename F>
void finish_states(const void* states, size_t count, const double* k, void* first, void* second) {
  const auto* s = static_cast<const typename F::State*>(states);
  auto* x = static_cast<typename F::First*>(first);
  auto* y = static_cast<typename F::Second*>(second);
  for (size_t i = 0; i < count; ++i) F::finish(s[i], k, x == nullptr ? nullptr : x + i, y == nullptr ? nullptr : y + i);
}

template <typename F>
ReduceKernel kernel_of() {
  static_assert(sizeof(typename F::State) <= kMaxStateBytes);
  ReduceKernel kernel;
  kernel.state_bytes = sizeof(typename F::State);
  kernel.most_columns = AddsOne<F> || ReducesColumns<F> ? 512 : 32;
  kernel.start = &start_states<F>;
  kernel.rows = &reduce_rows<F>;
  kernel.columns = &reduce_columns<F>;
  kernel.merge = &merge_states<F>;
  kernel.finish = &finish_states<F>;
  return kernel;
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
