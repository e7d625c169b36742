#include "ops/nn/quant/row_kernels.h"

#include <limits>

#include "ops/nn/quant/numbers.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/quant/row_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

// As to_int8() of numbers.h.
HWY_INLINE V rounded(V value) {
  const Tag d;
  const V whole = hn::Set(d, kRemovesFraction);
  const V kept = hn::IfThenElseZero(hn::Eq(value, value), value);
  const V clamped = hn::Min(hn::Max(kept, hn::Set(d, -128.0F)), hn::Set(d, 127.0F));
  return hn::Sub(hn::Add(clamped, whole), whole);
}

// Calls body(offset, load, store) for whole vectors, then for the rest.
template <typename Body>
HWY_INLINE void for_vectors(size_t count, const Body& body) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    body(
        i, [d](const float* from) HWY_ATTR { return hn::LoadU(d, from); },
        [d](V value, float* to) HWY_ATTR { hn::StoreU(value, d, to); });
  }
  if (i == count) return;
  const auto mask = hn::FirstN(d, count - i);
  body(
      i, [d, mask](const float* from) HWY_ATTR { return hn::MaskedLoad(mask, d, from); },
      [d, mask](V value, float* to) HWY_ATTR { hn::BlendedStore(value, mask, d, to); });
}

RowRange range(const float* x, size_t count) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  const float infinity = std::numeric_limits<float>::infinity();
  V least = hn::Set(d, infinity);
  V most = hn::Set(d, -infinity);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V value = hn::LoadU(d, x + i);
    least = hn::IfThenElse(hn::Lt(value, least), value, least);
    most = hn::IfThenElse(hn::Gt(value, most), value, most);
  }
  if (i < count) {
    const auto mask = hn::FirstN(d, count - i);
    const V value = hn::MaskedLoad(mask, d, x + i);
    least = hn::IfThenElse(hn::And(mask, hn::Lt(value, least)), value, least);
    most = hn::IfThenElse(hn::And(mask, hn::Gt(value, most)), value, most);
  }
  return {hn::GetLane(hn::MinOfLanes(d, least)), hn::GetLane(hn::MaxOfLanes(d, most))};
}

void divide(const float* x, size_t count, float divisor, float shift, float* y) {
  const Tag d;
  const V by = hn::Set(d, divisor);
  const V added = hn::Set(d, shift);
  for_vectors(count, [&](size_t i, auto&& load, auto&& store)
                         HWY_ATTR { store(rounded(hn::Add(hn::Div(load(x + i), by), added)), y + i); });
}

void scale(const float* x, const float* scales, const float* offsets, size_t count, float* y) {
  for_vectors(count, [&](size_t i, auto&& load, auto&& store) HWY_ATTR {
    store(rounded(hn::Add(hn::Mul(load(x + i), load(scales + i)), load(offsets + i))), y + i);
  });
}

void quotient(const float* x, const float* scales, const float* offsets, size_t count, float* y) {
  for_vectors(count, [&](size_t i, auto&& load, auto&& store) HWY_ATTR {
    // Lanes behind the last value divide by 0: their quotients are not stored.
    store(rounded(hn::Add(hn::Div(load(x + i), load(scales + i)), load(offsets + i))), y + i);
  });
}

QuantRowKernels kernels() { return {&range, &divide, &scale, &quotient}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(kernels);
}  // namespace

QuantRowKernels quant_row_kernels() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernels)();
}

}  // namespace softnpu
#endif
