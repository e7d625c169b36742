#include "ops/tensor/index/offsets.h"

#include "base/text.h"
#include "nnopbase/executor.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/tensor/index/offsets.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Read = int64_t (*)(const IndexRange& range, const char* index, int64_t count, ptrdiff_t along, ptrdiff_t step,
                         ptrdiff_t* offsets);

#if HWY_TARGET == HWY_SCALAR
template <typename Index>
int64_t read_contiguous(const IndexRange&, const char*, int64_t, ptrdiff_t, ptrdiff_t, ptrdiff_t*) {
  return 0;
}
#else
// Contiguous indices of dimensions below 2^32, with a scale below 2^32. Returns how many were read: all up to a vector
// that has an index out of range, or that is not whole.
template <typename Index>
int64_t read_contiguous(const IndexRange& range, const char* index, int64_t count, ptrdiff_t along, ptrdiff_t step,
                        ptrdiff_t* offsets) {
  const hn::ScalableTag<int64_t> d;
  const hn::Repartition<uint32_t, decltype(d)> halves;
  const hn::Rebind<Index, decltype(d)> as_stored;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto size = hn::Set(d, range.size);
  const auto last = hn::Set(d, range.size - 1);
  const auto zero = hn::Zero(d);
  const auto scale = hn::Set(halves, static_cast<uint32_t>(along));
  int64_t first_steps[hn::MaxLanes(d)];
  for (int64_t i = 0; i < lanes; ++i) first_steps[i] = i * step;
  auto steps = hn::LoadU(d, first_steps);
  const auto next_steps = hn::Set(d, lanes * step);
  const auto* from = reinterpret_cast<const Index*>(index);
  int64_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    auto value = zero;
    if constexpr (sizeof(Index) == sizeof(int64_t)) {
      value = hn::LoadU(d, from + k);
    } else {
      value = hn::PromoteTo(d, hn::LoadU(as_stored, from + k));
    }
    if (range.wraps) value = hn::Add(value, hn::IfThenElseZero(hn::Lt(value, zero), size));
    if (!hn::AllFalse(d, hn::Or(hn::Lt(value, zero), hn::Gt(value, last)))) break;
    const auto product = hn::MulEven(hn::BitCast(halves, value), scale);
    hn::StoreU(hn::Add(hn::BitCast(d, product), steps), d, reinterpret_cast<int64_t*>(offsets) + k);
    steps = hn::Add(steps, next_steps);
  }
  return k;
}
#endif

Read read_widened() { return &read_contiguous<int64_t>; }
Read read_narrow() { return &read_contiguous<int32_t>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(read_widened);
HWY_EXPORT(read_narrow);

// How many of `count` indices are read as vectors.
int64_t read_vectors(const IndexRange& range, const char* index, ptrdiff_t stride, int64_t count, ptrdiff_t along,
                     ptrdiff_t step, ptrdiff_t* offsets) {
  constexpr int64_t kFew = 8;
  constexpr int64_t kMax = int64_t{1} << 32;
  const ptrdiff_t element = range.is_widened ? sizeof(int64_t) : sizeof(int32_t);
  if (stride != element || count < kFew || range.size > kMax || along < 0 || along >= kMax) return 0;
  static const auto widened = (limit_simd_targets(), HWY_DYNAMIC_DISPATCH(read_widened)());
  static const auto narrow = (limit_simd_targets(), HWY_DYNAMIC_DISPATCH(read_narrow)());
  return (range.is_widened ? widened : narrow)(range, index, count, along, step, offsets);
}

}  // namespace

Status out_of_range(int64_t index, size_t dim, int64_t size, bool wraps) {
  return {SOFTNPU_INDEX_ERROR, text("index ", index, " is out of range for dimension ", dim, " of size ", size,
                                    wraps ? "; it is from minus the size to the size less one" : "")};
}

int64_t read_offsets(const IndexRange& range, const char* index, ptrdiff_t stride, int64_t count, ptrdiff_t along,
                     ptrdiff_t step, ptrdiff_t* offsets, int64_t* bad) {
  int64_t k = read_vectors(range, index, stride, count, along, step, offsets);
  for (; k < count; ++k) {
    const int64_t given = load_index(index + k * stride, range.is_widened);
    const int64_t value = range.wraps && given < 0 ? given + range.size : given;
    if (value < 0 || value >= range.size) {
      *bad = given;
      return k;
    }
    offsets[k] = value * along + k * step;
  }
  return count;
}

void FirstBadIndex::add(int64_t position, int64_t value, size_t dim, const IndexRange& range) {
  std::lock_guard lock(mutex_);
  if (position >= position_) return;
  position_ = position;
  status_ = out_of_range(value, dim, range.size, range.wraps);
}

}  // namespace softnpu
#endif
