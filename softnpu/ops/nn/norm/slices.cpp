#include "ops/nn/norm/slices.h"

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/norm/slices.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/widen.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Double = hn::Vec<Doubles>;
// As many lanes as Doubles.
template <typename T>
using Narrow = hn::Rebind<T, Doubles>;

// Calls body(first value, how many) for vectors of each slice, as wide as those of D.
template <typename D, typename Body>
HWY_INLINE void for_vectors(D d, const SliceShape& shape, const Body& body) {
  const size_t lanes = hn::Lanes(d);
  for (size_t slice = 0; slice < shape.count; ++slice) {
    const size_t first = slice * shape.stride;
    size_t i = 0;
    for (; i + lanes <= shape.size; i += lanes) body(first + i, lanes);
    if (i != shape.size) body(first + i, shape.size - i);
  }
}

HWY_INLINE double sum(Double v) { return hn::GetLane(hn::SumOfLanes(Doubles(), v)); }

template <typename T>
Moment moment(const SliceShape& shape, const T* HWY_RESTRICT x) {
  const Doubles d;
  const Narrow<T> narrow;
  Double total = hn::Zero(d);
  for_vectors(narrow, shape, [&](size_t at, size_t count) HWY_ATTR {
    const auto mask = hn::FirstN(narrow, count);
    total = hn::Add(total, widened(d, hn::MaskedLoad(mask, narrow, x + at)));
  });
  Moment moment;
  moment.count = static_cast<double>(shape.count * shape.size);
  moment.mean = sum(total) / moment.count;
  const Double mean = hn::Set(d, moment.mean);
  Double squares = hn::Zero(d);
  for_vectors(narrow, shape, [&](size_t at, size_t count) HWY_ATTR {
    const auto mask = hn::FirstN(narrow, count);
    const Double distance = hn::Sub(widened(d, hn::MaskedLoad(mask, narrow, x + at)), mean);
    squares = hn::Add(squares, hn::IfThenElseZero(hn::FirstN(d, count), hn::Mul(distance, distance)));
  });
  moment.squares = sum(squares);
  return moment;
}

template <typename T>
void affine(const SliceShape& shape, const T* x, T mean, T factor, T offset, T* y) {
  const hn::ScalableTag<T> d;
  for_vectors(d, shape, [&](size_t at, size_t count) HWY_ATTR {
    const auto mask = hn::FirstN(d, count);
    const auto distance = hn::Sub(hn::MaskedLoad(mask, d, x + at), hn::Set(d, mean));
    hn::BlendedStore(hn::Add(hn::Mul(distance, hn::Set(d, factor)), hn::Set(d, offset)), mask, d, y + at);
  });
}

template <typename T>
GradientSums gradient_sums(const SliceShape& shape, const T* HWY_RESTRICT g, const T* HWY_RESTRICT x, T mean, T scale) {
  const Doubles d;
  const Narrow<T> narrow;
  const Double means = hn::Set(d, static_cast<double>(mean));
  Double slopes = hn::Zero(d);
  Double products = hn::Zero(d);
  for_vectors(narrow, shape, [&](size_t at, size_t count) HWY_ATTR {
    const auto mask = hn::FirstN(narrow, count);
    const Double slope = widened(d, hn::MaskedLoad(mask, narrow, g + at));  // 0 beyond the slice
    const Double value = widened(d, hn::MaskedLoad(mask, narrow, x + at));
    slopes = hn::Add(slopes, slope);
    products = hn::MulAdd(slope, hn::Sub(value, means), products);
  });
  return {sum(slopes), sum(products) * static_cast<double>(scale)};
}

template <typename T>
void gradient(const SliceShape& shape, const NormGradientRow<T>& row, T factor, T a, T b, T* out) {
  const hn::ScalableTag<T> d;
  for_vectors(d, shape, [&](size_t at, size_t count) HWY_ATTR {
    const auto mask = hn::FirstN(d, count);
    const auto distance = hn::Sub(hn::MaskedLoad(mask, d, row.x + at), hn::Set(d, row.mean));
    const auto along = hn::Mul(hn::Mul(distance, hn::Set(d, row.scale)), hn::Set(d, b));
    const auto slope = hn::Sub(hn::Sub(hn::MaskedLoad(mask, d, row.g + at), hn::Set(d, a)), along);
    hn::BlendedStore(hn::Mul(hn::Set(d, factor), slope), mask, d, out + at);
  });
}

template <typename T>
SliceKernels<T> kernels() {
  return {&moment<T>, &affine<T>, &gradient_sums<T>, &gradient<T>};
}
SliceKernels<float> kernels_float() { return kernels<float>(); }
SliceKernels<double> kernels_double() { return kernels<double>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(kernels_float);
HWY_EXPORT(kernels_double);
}  // namespace

SliceKernels<float> slice_kernels_float() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernels_float)();
}

SliceKernels<double> slice_kernels_double() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernels_double)();
}

}  // namespace softnpu
#endif
