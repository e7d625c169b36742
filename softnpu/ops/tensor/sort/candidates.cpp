#include "ops/tensor/sort/candidates.h"

#include <type_traits>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/tensor/sort/candidates.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <bool kSmaller, typename D>
HWY_INLINE auto may_be_better(D, hn::Vec<D> v, hn::Vec<D> bound) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
    return hn::Not(kSmaller ? hn::Ge(v, bound) : hn::Le(v, bound));  // true for NaN
  } else {
    return kSmaller ? hn::Lt(v, bound) : hn::Gt(v, bound);
  }
}

template <bool kSmaller, typename T>
HWY_INLINE int64_t find(const T* values, int64_t first, int64_t count, T bound, uint32_t* found) {
  const hn::CappedTag<T, kCandidateBlock> d;
  const auto limit = hn::Set(d, bound);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto is_better = [&](int64_t i) { return may_be_better<kSmaller>(d, hn::LoadU(d, values + i), limit); };
  for (; first + kCandidateBlock <= count; first += kCandidateBlock) {
    auto any = is_better(first);
    for (int64_t i = lanes; i < kCandidateBlock; i += lanes) any = hn::Or(any, is_better(first + i));
    if (hn::AllFalse(d, any)) continue;
    *found = 0;
    for (int64_t i = 0; i < kCandidateBlock; i += lanes) {
      uint64_t bits = 0;  // at least 8 bytes are written
      hn::StoreMaskBits(d, is_better(first + i), reinterpret_cast<uint8_t*>(&bits));
      *found |= static_cast<uint32_t>((bits & ((uint64_t{1} << lanes) - 1)) << i);
    }
    return first;
  }
  *found = 0;
  for (int64_t i = first; i < count; ++i) {
    const bool is_worse = kSmaller ? values[i] >= bound : values[i] <= bound;
    *found |= static_cast<uint32_t>(!is_worse) << (i - first);
  }
  return *found != 0 ? first : count;
}

template <typename T>
int64_t find_candidates(const T* values, int64_t first, int64_t count, T bound, bool smaller, uint32_t* found) {
  return smaller ? find<true>(values, first, count, bound, found) : find<false>(values, first, count, bound, found);
}

FindCandidates<float> float_candidates() { return &find_candidates<float>; }
FindCandidates<int32_t> int_candidates() { return &find_candidates<int32_t>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(float_candidates);
HWY_EXPORT(int_candidates);

}  // namespace

FindCandidates<float> find_float_candidates() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(float_candidates)();
}

FindCandidates<int32_t> find_int_candidates() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(int_candidates)();
}

}  // namespace softnpu
#endif
