// Reductions: in SIMD, in an order that does not depend on the width of the CPU's vectors.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ascendc/instructions/vector/repeats.h"
#include "simd/targets.h"
#include "softnpu_kernel/vector_reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ascendc/instructions/vector/reduce.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu::kernel {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using Operation = ReduceInstruction::Operation;
using Span = ReduceInstruction::Span;
using Result = ReduceInstruction::Result;

// half is computed as float.
template <typename T>
using Computed = std::conditional_t<std::is_same_v<T, half>, float, T>;

template <typename T>
constexpr bool is_float = std::is_same_v<T, float> || std::is_same_v<T, half>;

// What leaves the other operand as it is.
template <typename T>
Computed<T> neutral(Operation operation) {
  using C = Computed<T>;
  if (operation == Operation::kSum) return is_float<T> ? static_cast<C>(-0.0F) : C(0);
  const bool is_max = operation == Operation::kMax;
  if constexpr (is_float<T>)
    return is_max ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::infinity();
  else
    return is_max ? std::numeric_limits<C>::min() : std::numeric_limits<C>::max();
}

template <typename T>
HWY_INLINE Computed<T> sum_of(Computed<T> a, Computed<T> b) {
  if constexpr (std::is_same_v<T, half>)
    return static_cast<float>(static_cast<half>(a + b));
  else if constexpr (is_float<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
}

template <typename T, typename D, typename V>
HWY_INLINE V sum_of(D d, V a, V b) {
  const V sum = hn::Add(a, b);
  if constexpr (std::is_same_v<T, half>) {
    const hn::Rebind<hwy::float16_t, D> narrow;
    return hn::PromoteTo(d, hn::DemoteTo(narrow, sum));
  } else {
    return sum;
  }
}

// The sums of `groups` groups of `count` values together, by trees over neighbouring pairs, to the first of `sums`.
// Both are powers of two. One level of all trees after the other; `sums` has space for half of the values, or is
// `values`.
template <typename T>
HWY_INLINE void tree_sums(const Computed<T>* values, Computed<T>* sums, size_t count, size_t groups) {
  const hn::ScalableTag<Computed<T>> d;
  const size_t lanes = hn::Lanes(d);
  for (; count > groups; count /= 2, values = sums) {
    const size_t pairs = count / 2;
    size_t i = 0;
    for (; i + lanes <= pairs; i += lanes) {
      auto even = hn::Zero(d);
      auto odd = hn::Zero(d);
      hn::LoadInterleaved2(d, values + 2 * i, even, odd);
      hn::StoreU(sum_of<T>(d, even, odd), d, sums + i);
    }
    for (; i < pairs; ++i) sums[i] = sum_of<T>(values[2 * i], values[2 * i + 1]);
  }
}

// Overwrites the values.
template <typename T>
HWY_INLINE Computed<T> tree_sum(Computed<T>* values, size_t count) {
  tree_sums<T>(values, values, count, 1);
  return values[0];
}

template <typename T, typename D, typename V>
HWY_INLINE hn::Mask<D> is_nan(D, V v) {
  if constexpr (is_float<T>)
    return hn::IsNaN(v);
  else
    return v < v;
}

// The largest or smallest of the values, and whether there is a NaN; `value` is any of several equal ones.
template <typename T>
struct Extreme {
  Computed<T> value;
  bool has_nan;
};

template <typename T>
HWY_INLINE Extreme<T> extreme_of(const Computed<T>* values, size_t count, bool is_max) {
  const hn::ScalableTag<Computed<T>> d;
  const size_t lanes = hn::Lanes(d);
  const auto better = [is_max](auto a, auto b) HWY_ATTR { return is_max ? hn::Max(a, b) : hn::Min(a, b); };
  Extreme<T> found{values[0], false};
  size_t i = 0;
  if (hn::MaxLanes(d) > 1 && count >= lanes) {
    auto best = hn::LoadU(d, values);
    auto strange = is_nan<T>(d, best);
    if (count >= 4 * lanes) {
      // Four at a time: each has to wait for its own last one only.
      decltype(best) bests[4] = {best, best, best, best};
      decltype(strange) nans[4] = {strange, strange, strange, strange};
      for (; i + 4 * lanes <= count; i += 4 * lanes) {
        for (size_t k = 0; k < 4; ++k) {
          const auto next = hn::LoadU(d, values + i + k * lanes);
          nans[k] = hn::Or(nans[k], is_nan<T>(d, next));
          bests[k] = better(bests[k], next);
        }
      }
      best = better(better(bests[0], bests[1]), better(bests[2], bests[3]));
      strange = hn::Or(hn::Or(nans[0], nans[1]), hn::Or(nans[2], nans[3]));
    }
    for (; i + lanes <= count; i += lanes) {
      const auto next = hn::LoadU(d, values + i);
      strange = hn::Or(strange, is_nan<T>(d, next));
      best = better(best, next);
    }
    found.has_nan = !hn::AllFalse(d, strange);
    alignas(64) Computed<T> of_lanes[hn::MaxLanes(d)];
    hn::StoreU(best, d, of_lanes);
    found.value = of_lanes[0];
    for (size_t lane = 1; lane < lanes; ++lane) {
      if (is_max ? of_lanes[lane] > found.value : of_lanes[lane] < found.value) found.value = of_lanes[lane];
    }
  }
  for (; i < count; ++i) {
    found.has_nan = found.has_nan || values[i] != values[i];
    if (is_max ? values[i] > found.value : values[i] < found.value) found.value = values[i];
  }
  return found;
}

// The first NaN, or else the first of the values that equal `found`.
template <typename T>
HWY_INLINE size_t location_of(const Extreme<T>& found, const Computed<T>* values, size_t count) {
  const hn::ScalableTag<Computed<T>> d;
  const size_t lanes = hn::Lanes(d);
  const auto wanted = hn::Set(d, found.value);
  size_t at = 0;
  for (; at + lanes <= count; at += lanes) {
    const auto next = hn::LoadU(d, values + at);
    const auto is_there = found.has_nan ? is_nan<T>(d, next) : hn::Eq(next, wanted);
    if (!hn::AllFalse(d, is_there)) break;
  }
  while (at + 1 < count && (found.has_nan ? values[at] == values[at] : values[at] != found.value)) ++at;
  return at;
}

template <typename T>
HWY_INLINE size_t best_of(const Computed<T>* values, size_t count, bool is_max) {
  return location_of<T>(extreme_of<T>(values, count, is_max), values, count);
}

// The elements of one repeat, in their places; those that the mask has not are neutral. Returns how many it has.
template <typename T>
HWY_INLINE size_t load_repeat(const ReduceInstruction& reduce, uint64_t repeat, Computed<T>* values, bool* has) {
  constexpr uint32_t kElements = kRepeatBytes / sizeof(T);
  const auto* from = static_cast<const char*>(reduce.source.address);
  alignas(64) T raw[kElements];
  const Computed<T> none = neutral<T>(reduce.operation);
  if (const uint32_t prefix = prefix_of(reduce.mask, repeat, kElements); reduce.source_stride == 1 && prefix > 0) {
    std::memcpy(raw, from + repeat * reduce.source_repeat * kBlockBytes, prefix * sizeof(T));
    for (uint32_t i = 0; i < prefix; ++i) values[i] = static_cast<Computed<T>>(raw[i]);
    for (uint32_t i = prefix; i < kElements; ++i) values[i] = none;
    std::memset(has, 1, prefix);
    std::memset(has + prefix, 0, kElements - prefix);
    return prefix;
  }
  for (uint32_t i = 0; i < kElements; ++i) values[i] = none;
  std::memset(has, 0, kElements);
  size_t count = 0;
  for_masked_runs(reduce.mask, repeat, whole_repeats(sizeof(T), reduce.source_stride, reduce.source_repeat),
                  [&](uint32_t first, uint32_t elements, uint64_t offset) {
                    std::memcpy(raw, from + offset, elements * sizeof(T));
                    for (uint32_t i = 0; i < elements; ++i) {
                      values[first + i] = static_cast<Computed<T>>(raw[i]);
                      has[first + i] = true;
                    }
                    count += elements;
                  });
  return count;
}

// A place of `values` that the mask has: the best one.
template <typename T>
HWY_INLINE size_t best_masked(const Computed<T>* values, const bool* has, size_t count, bool is_max) {
  const size_t at = best_of<T>(values, count, is_max);
  if (has[at]) return at;
  // What the mask has is infinite, too, and stands behind what it has not.
  for (size_t i = at; i < count; ++i) {
    if (has[i] && values[i] == values[at]) return i;
  }
  return at;
}

template <typename T>
void put(T* to, Result result, T value, uint64_t index) {
  using Index = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
  const auto location = static_cast<Index>(index);
  std::memcpy(to, &value, sizeof(T));
  if (result == Result::kValueIndex) std::memcpy(to + 1, &location, sizeof(T));
}

// How far a reduction to one value is.
template <typename T>
struct Progress {
  Computed<T> value;
  uint64_t index = 0;
  bool is_first = true;
};

template <typename T>
HWY_INLINE void take_better(Progress<T>* progress, Computed<T> value, uint64_t index, bool is_max) {
  const bool is_nan = progress->value != progress->value;
  if (progress->is_first ||
      (!is_nan && (value != value || (is_max ? value > progress->value : value < progress->value)))) {
    progress->value = value;
    progress->index = index;
  }
  progress->is_first = false;
}

// Whole repeats that follow each other, many at a time. Returns how many.
template <typename T>
uint64_t reduce_whole(const ReduceInstruction& reduce, uint64_t repeats, Progress<T>* progress) {
  constexpr uint32_t kElements = kRepeatBytes / sizeof(T);
  constexpr uint64_t kLimit = 16;
  if (reduce.source_stride != 1 || reduce.source_repeat != 8 || !is_aligned(reduce.source, sizeof(T))) return 0;
  alignas(64) Computed<T> space[kLimit * kElements];
  const auto* from = static_cast<const T*>(reduce.source.address);
  uint64_t done = 0;
  for (uint64_t count = kLimit; count > 0; count /= 2) {
    for (; done + count <= repeats && prefix_of(reduce.mask, done + count - 1, kElements) == kElements; done += count) {
      const uint64_t first = done * kElements;
      const Computed<T>* values = space;
      if constexpr (std::is_same_v<T, Computed<T>>) {
        values = from + first;
      } else {
        for (uint64_t i = 0; i < count * kElements; ++i) space[i] = static_cast<Computed<T>>(from[first + i]);
      }
      if (reduce.operation == Operation::kSum) {
        tree_sums<T>(values, space, count * kElements, count);
        for (uint64_t i = 0; i < count; ++i) progress->value = sum_of<T>(progress->value, space[i]);
        progress->is_first = false;
      } else {
        const bool is_max = reduce.operation == Operation::kMax;
        const Extreme<T> found = extreme_of<T>(values, count * kElements, is_max);
        // Without an index the place matters only where equal values differ: zeros in their sign, NaN in its bits.
        const bool has_location = reduce.result == Result::kValueIndex || found.has_nan || found.value == 0;
        const size_t at = has_location ? location_of<T>(found, values, count * kElements) : 0;
        take_better(progress, has_location ? values[at] : found.value, first + at, is_max);
      }
    }
  }
  return done;
}

template <typename T>
void reduce_all(const ReduceInstruction& reduce) {
  constexpr uint32_t kElements = kRepeatBytes / sizeof(T);
  alignas(64) Computed<T> values[kElements];
  bool has[kElements];
  const uint64_t repeats = repeats_of(reduce.mask, reduce.repeats, kElements);
  const bool is_max = reduce.operation == Operation::kMax;
  Progress<T> progress{neutral<T>(reduce.operation)};
  for (uint64_t r = reduce_whole<T>(reduce, repeats, &progress); r < repeats; ++r) {
    if (load_repeat<T>(reduce, r, values, has) == 0) continue;
    if (reduce.operation == Operation::kSum) {
      progress.value = sum_of<T>(progress.value, tree_sum<T>(values, kElements));
      progress.is_first = false;
      continue;
    }
    const size_t at = best_masked<T>(values, has, kElements, is_max);
    const uint64_t index = (r * reduce.source_repeat + at / (kElements / 8) * reduce.source_stride) * (kElements / 8) +
                           at % (kElements / 8);
    take_better(&progress, values[at], index, is_max);
  }
  if (!progress.is_first)
    put(static_cast<T*>(reduce.destination.address), reduce.result, static_cast<T>(progress.value), progress.index);
}

// The extremes of `groups` groups of `count` values, which have no NaN, as tree_sums() has the sums.
template <typename T>
HWY_INLINE void tree_extremes(Computed<T>* values, size_t count, size_t groups, bool is_max) {
  const hn::ScalableTag<Computed<T>> d;
  const size_t lanes = hn::Lanes(d);
  for (; count > groups; count /= 2) {
    const size_t pairs = count / 2;
    size_t i = 0;
    for (; i + lanes <= pairs; i += lanes) {
      auto even = hn::Zero(d);
      auto odd = hn::Zero(d);
      hn::LoadInterleaved2(d, values + 2 * i, even, odd);
      hn::StoreU(is_max ? hn::Max(even, odd) : hn::Min(even, odd), d, values + i);
    }
    for (; i < pairs; ++i)
      values[i] = is_max ? std::max(values[2 * i], values[2 * i + 1]) : std::min(values[2 * i], values[2 * i + 1]);
  }
}

template <typename T>
HWY_INLINE bool has_nan(const Computed<T>* values, size_t count) {
  if constexpr (!is_float<T>) return false;
  return extreme_of<T>(values, count, true).has_nan;
}

// At most so many repeats are reduced together.
constexpr uint64_t kGroup = 16;

// The values of `count` repeats, a power of two, of which the mask has the first `prefix` elements. False, and nothing
// is done, where a NaN or the sign of a zero has to be found in its place.
template <typename T>
HWY_INLINE bool reduce_group(const ReduceInstruction& reduce, uint64_t first, uint64_t count, uint32_t prefix) {
  constexpr uint32_t kElements = kRepeatBytes / sizeof(T);
  const uint32_t width = std::bit_ceil(prefix);
  const Computed<T> none = neutral<T>(reduce.operation);
  alignas(64) Computed<T> values[kGroup * kElements];
  for (uint64_t r = 0; r < count; ++r) {
    const char* from =
        static_cast<const char*>(reduce.source.address) + (first + r) * reduce.source_repeat * kBlockBytes;
    Computed<T>* to = values + r * width;
    if constexpr (std::is_same_v<T, Computed<T>>) {
      std::memcpy(to, from, prefix * sizeof(T));
    } else {
      T raw[kElements];
      std::memcpy(raw, from, prefix * sizeof(T));
      for (uint32_t i = 0; i < prefix; ++i) to[i] = static_cast<Computed<T>>(raw[i]);
    }
    for (uint32_t i = prefix; i < width; ++i) to[i] = none;
  }
  if (reduce.operation == Operation::kSum) {
    tree_sums<T>(values, values, count * width, count);
  } else {
    if (has_nan<T>(values, count * width)) return false;
    tree_extremes<T>(values, count * width, count, reduce.operation == Operation::kMax);
    if (is_float<T> && std::find(values, values + count, Computed<T>(0)) != values + count) return false;
  }
  for (uint64_t r = 0; r < count; ++r) {
    T* to = static_cast<T*>(reduce.destination.address) + (first + r) * reduce.destination_repeat;
    put(to, reduce.result, static_cast<T>(values[r]), 0);
  }
  return true;
}

// One value of each `group` elements of a repeat.
template <typename T>
void reduce_repeat(const ReduceInstruction& reduce, uint32_t group, uint64_t r) {
  constexpr uint32_t kElements = kRepeatBytes / sizeof(T);
  alignas(64) Computed<T> values[kElements];
  bool has[kElements];
  const uint32_t groups = kElements / group;
  const uint32_t of_value = reduce.result == Result::kValueIndex ? 2 : 1;
  if (load_repeat<T>(reduce, r, values, has) == 0) return;
  T* to = static_cast<T*>(reduce.destination.address) + r * reduce.destination_repeat * groups * of_value;
  for (uint32_t g = 0; g < groups; ++g) {
    const bool* some = has + g * group;
    if (std::memchr(some, 1, group) == nullptr) continue;
    Computed<T>* first = values + g * group;
    if (reduce.operation == Operation::kSum) {
      put(to + g, reduce.result, static_cast<T>(tree_sum<T>(first, group)), 0);
    } else {
      const size_t at = best_masked<T>(first, some, group, reduce.operation == Operation::kMax);
      put(to + g, reduce.result, static_cast<T>(first[at]), at);
    }
  }
}

template <typename T>
void reduce_groups(const ReduceInstruction& reduce, uint32_t group) {
  constexpr uint32_t kElements = kRepeatBytes / sizeof(T);
  const uint64_t repeats = repeats_of(reduce.mask, reduce.repeats, kElements);
  const uint32_t prefix = prefix_of(reduce.mask, 0, kElements);
  // Repeats with the same first elements, whole ones where the mask is a number of all elements.
  uint64_t same = 0;
  if (group == kElements && reduce.result == Result::kValue && reduce.source_stride == 1 && prefix > 0)
    same = reduce.mask.elements > 0 ? reduce.mask.elements / kElements : repeats;
  uint64_t r = 0;
  while (r < same) {
    const uint64_t count = std::bit_floor(std::min(same - r, kGroup));
    const uint64_t end = r + count;
    if (reduce_group<T>(reduce, r, count, prefix)) r = end;
    for (; r < end; ++r) reduce_repeat<T>(reduce, group, r);
  }
  for (; r < repeats; ++r) reduce_repeat<T>(reduce, group, r);
}

template <typename T>
void reduce_rows(const ReduceInstruction& reduce) {
  constexpr uint32_t kElements = kRepeatBytes / sizeof(T);
  for (uint32_t row = 0; row < reduce.repeats; ++row) {
    ReduceInstruction one = reduce;
    one.source.address = static_cast<char*>(reduce.source.address) + row * reduce.row_step;
    one.destination.address = static_cast<T*>(reduce.destination.address) + row;
    one.mask.elements = reduce.row_elements;
    one.repeats = static_cast<uint32_t>((reduce.row_elements + kElements - 1) / kElements);
    reduce_all<T>(one);
  }
}

template <typename T>
void reduce_type(const ReduceInstruction& reduce) {
  constexpr uint32_t kElements = kRepeatBytes / sizeof(T);
  switch (reduce.span) {
    case Span::kAll: return reduce_all<T>(reduce);
    case Span::kRepeat: return reduce_groups<T>(reduce, kElements);
    case Span::kBlock: return reduce_groups<T>(reduce, kElements / 8);
    case Span::kPair: return reduce_groups<T>(reduce, 2);
    case Span::kRow: return reduce_rows<T>(reduce);
  }
}

void reduce_any(const ReduceInstruction& reduce) {
  switch (reduce.type) {
    case DataType::kHalf: return reduce_type<half>(reduce);
    case DataType::kFloat: return reduce_type<float>(reduce);
    case DataType::kInt16: return reduce_type<int16_t>(reduce);
    case DataType::kInt32: return reduce_type<int32_t>(reduce);
    default: return fail("a reduction of this element type is not there", reduce.where);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu::kernel {
namespace {
HWY_EXPORT(reduce_any);
}  // namespace

void execute_reduce(const Instruction& instruction) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(reduce_any)(static_cast<const ReduceInstruction&>(instruction));
}

}  // namespace softnpu::kernel
#endif  // HWY_ONCE
