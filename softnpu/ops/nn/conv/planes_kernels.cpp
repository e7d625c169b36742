#include "ops/nn/conv/planes_kernels.h"

#include <cstring>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/conv/planes_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

// Sums in kRows x kVectors vectors. `at`: the columns where the vectors begin.
template <size_t kRows, size_t kVectors>
HWY_INLINE void sum_block(const PlaneChunk& p, size_t row, const size_t* at, Vector (&sums)[kRows * kVectors]) {
  const Tag d;
  for (Vector& sum : sums) sum = hn::Set(d, p.bias);
  const ptrdiff_t first = static_cast<ptrdiff_t>(row) * p.from_stride;
  for (size_t k = 0; k < p.tap_count; ++k) {
    const auto tap = hn::Set(d, p.taps[k]);
    const float* from = p.from[k] + first;
    for (size_t r = 0; r < kRows; ++r, from += p.from_stride) {
      for (size_t v = 0; v < kVectors; ++v) {
        Vector& sum = sums[r * kVectors + v];
        sum = hn::MulAdd(hn::LoadU(d, from + at[v]), tap, sum);
      }
    }
  }
}

// Rows of at least one vector: the last vector of a row overlaps the one before.
template <size_t kRows, size_t kVectors>
HWY_INLINE void widened_block(const PlaneChunk& p, size_t row, size_t vector) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  size_t at[kVectors];
  for (size_t v = 0; v < kVectors; ++v) at[v] = HWY_MIN((vector + v) * lanes, p.columns - lanes);
  Vector sums[kRows * kVectors];
  sum_block<kRows, kVectors>(p, row, at, sums);
  float* to = p.to + static_cast<ptrdiff_t>(row) * p.to_stride;
  for (size_t r = 0; r < kRows; ++r, to += p.to_stride) {
    for (size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[r * kVectors + v], d, to + at[v]);
  }
}

template <size_t kRows>
void widened_rows(const PlaneChunk& p, size_t row) {
  const size_t lanes = hn::Lanes(Tag());
  const size_t vectors = (p.columns + lanes - 1) / lanes;
  size_t v = 0;
  if constexpr (kRows == 1) {
    for (; v + 8 <= vectors; v += 8) widened_block<1, 8>(p, row, v);
  }
  for (; v + 4 <= vectors; v += 4) widened_block<kRows, 4>(p, row, v);
  switch (vectors - v) {
    case 3: return widened_block<kRows, 3>(p, row, v);
    case 2: return widened_block<kRows, 2>(p, row, v);
    case 1: return widened_block<kRows, 1>(p, row, v);
    default: break;
  }
}

// Rows shorter than a vector.
template <size_t kRows>
void narrow_rows(const PlaneChunk& p, size_t row) {
  const Tag d;
  const size_t at[1] = {0};
  Vector sums[kRows];
  sum_block<kRows, 1>(p, row, at, sums);
  float* to = p.to + static_cast<ptrdiff_t>(row) * p.to_stride;
  for (size_t r = 0; r < kRows; ++r, to += p.to_stride) {
    HWY_ALIGN float values[hn::MaxLanes(d)];
    hn::Store(sums[r], d, values);
    std::memcpy(to, values, p.columns * sizeof(float));
  }
}

void convolve(const PlaneChunk& p) {
  size_t row = 0;
  if (p.columns < hn::Lanes(Tag())) {
    for (; row + 4 <= p.rows; row += 4) narrow_rows<4>(p, row);
    for (; row < p.rows; ++row) narrow_rows<1>(p, row);
    return;
  }
  for (; row + 2 <= p.rows; row += 2) widened_rows<2>(p, row);
  if (row < p.rows) widened_rows<1>(p, row);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(convolve);
}  // namespace

void convolve_plane(const PlaneChunk& chunk) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(convolve)(chunk);
}

}  // namespace softnpu
#endif
