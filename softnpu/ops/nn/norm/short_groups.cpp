#include "ops/nn/norm/short_groups.h"

#include <algorithm>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/norm/short_groups.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/widen.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
template <typename T>
using Narrow = hn::Rebind<T, Doubles>;
template <typename T>
using Places = hn::RebindToSigned<Narrow<T>>;

// Value `i` of each lane's group.
template <typename T>
HWY_INLINE hn::Vec<Doubles> values_at(const T* x, size_t i, hn::Vec<Places<T>> places) {
  return widened(Doubles(), hn::GatherIndex(Narrow<T>(), x + i, places));
}

template <typename T>
HWY_INLINE void store(hn::Vec<Doubles> v, T* to) {
  if constexpr (sizeof(T) == sizeof(double)) {
    hn::StoreU(v, Doubles(), to);
  } else {
    hn::StoreU(hn::DemoteTo(Narrow<T>(), v), Narrow<T>(), to);
  }
}

// The statistics of `count` groups at x, no more than there are lanes; all lanes are written.
template <typename T>
HWY_INLINE void statistics(const T* x, size_t size, size_t count, double eps, T* mean, T* scale) {
  using Location = hn::TFromD<Places<T>>;
  const Doubles d;
  const Places<T> di;
  const auto lane = hn::Min(hn::Iota(di, 0), hn::Set(di, static_cast<Location>(count - 1)));
  const auto places = hn::Mul(lane, hn::Set(di, static_cast<Location>(size)));
  const auto share = hn::Set(d, 1.0 / static_cast<double>(size));
  auto sum = hn::Zero(d);
  for (size_t i = 0; i < size; ++i) sum = hn::Add(sum, values_at<T>(x, i, places));
  const auto center = hn::Mul(sum, share);
  auto squares = hn::Zero(d);
  for (size_t i = 0; i < size; ++i) {
    const auto distance = hn::Sub(values_at<T>(x, i, places), center);
    squares = hn::MulAdd(distance, distance, squares);
  }
  const auto variance = hn::MulAdd(squares, share, hn::Set(d, eps));
  store(center, mean);
  store(hn::Div(hn::Set(d, 1), hn::Sqrt(variance)), scale);
}

template <typename T>
HWY_INLINE void normalize(const ShortGroups<T>& groups, size_t group, T mean, T scale) {
  const hn::CappedTag<T, 16> d;
  const T* const x = groups.x + group * groups.size;
  T* const y = groups.y + group * groups.size;
  const size_t location = group % groups.per_image * groups.size;
  for (size_t i = 0; i < groups.size; i += hn::Lanes(d)) {
    const auto in = hn::FirstN(d, groups.size - i);
    auto v = hn::Mul(hn::Sub(hn::MaskedLoad(in, d, x + i), hn::Set(d, mean)), hn::Set(d, scale));
    if (groups.weight != nullptr) v = hn::Mul(v, hn::MaskedLoad(in, d, groups.weight + location + i));
    if (groups.bias != nullptr) v = hn::Add(v, hn::MaskedLoad(in, d, groups.bias + location + i));
    hn::BlendedStore(v, in, d, y + i);
  }
}

template <typename T>
void run(const ShortGroups<T>& groups, size_t first, size_t last, T* mean, T* scale) {
  const size_t lanes = hn::Lanes(Doubles());
  HWY_ALIGN T means[hn::MaxLanes(Doubles())];
  HWY_ALIGN T scales[hn::MaxLanes(Doubles())];
  for (size_t group = first; group < last; group += lanes) {
    const size_t count = std::min(lanes, last - group);
    statistics(groups.x + group * groups.size, groups.size, count, groups.eps, means, scales);
    for (size_t i = 0; i < count; ++i) {
      mean[group - first + i] = means[i];
      scale[group - first + i] = scales[i];
      normalize(groups, group + i, means[i], scales[i]);
    }
  }
}

void run_f32(const ShortGroups<float>& groups, size_t first, size_t last, float* mean, float* scale) {
  run(groups, first, last, mean, scale);
}
void run_f64(const ShortGroups<double>& groups, size_t first, size_t last, double* mean, double* scale) {
  run(groups, first, last, mean, scale);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(run_f32);
HWY_EXPORT(run_f64);
}  // namespace

template <>
void normalize_short_groups(const ShortGroups<float>& groups, size_t first, size_t last, float* mean, float* scale) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(run_f32)(groups, first, last, mean, scale);
}
template <>
void normalize_short_groups(const ShortGroups<double>& groups, size_t first, size_t last, double* mean, double* scale) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(run_f64)(groups, first, last, mean, scale);
}

}  // namespace softnpu
#endif
