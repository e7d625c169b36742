#include "ops/blas/matmul/panel_kernels.h"

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/blas/matmul/panel_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// 4 rows by 3 vectors of sums, 3 vectors of the panel and one of the rows fill 16 registers.
constexpr size_t kRows = 4;
constexpr size_t kVectors = 3;

using Tag = hn::CappedTag<float, 8>;
using V = hn::Vec<Tag>;

// Computes the sums of kHigh rows from `row` on with the first kUsed vectors of the panel; passes them to `put(row,
// vector, sum)`.
template <size_t kHigh, size_t kUsed, typename Put>
HWY_INLINE void sums(const PanelProduct& p, size_t row, Put&& put) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  V sum[kHigh][kUsed];
  for (size_t m = 0; m < kHigh; ++m) {
    for (size_t v = 0; v < kUsed; ++v) sum[m][v] = hn::Zero(d);
  }
  const float* a = p.a + static_cast<ptrdiff_t>(row) * p.a_row_stride;
  const float* panel = p.panel;
  for (size_t k = 0; k < p.k; ++k, ++a, panel += kVectors * lanes) {
    V right[kUsed];
    for (size_t v = 0; v < kUsed; ++v) right[v] = hn::LoadU(d, panel + v * lanes);
    for (size_t m = 0; m < kHigh; ++m) {
      const V left = hn::Set(d, a[static_cast<ptrdiff_t>(m) * p.a_row_stride]);
      for (size_t v = 0; v < kUsed; ++v) sum[m][v] = hn::MulAdd(left, right[v], sum[m][v]);
    }
  }
  for (size_t m = 0; m < kHigh; ++m) {
    for (size_t v = 0; v < kUsed; ++v) put(m, v, sum[m][v]);
  }
}

// kHigh rows with all columns of the panel. kPart: the last of kUsed vectors is partial.
template <size_t kHigh, size_t kUsed, bool kPart>
HWY_INLINE void strip(const PanelProduct& p, size_t row) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  const auto mask = hn::FirstN(d, p.columns - (kUsed - 1) * lanes);
  float* c = p.c + static_cast<ptrdiff_t>(row) * p.c_row_stride;
  sums<kHigh, kUsed>(p, row, [&](size_t m, size_t v, V sum) HWY_ATTR {
    float* to = c + static_cast<ptrdiff_t>(m) * p.c_row_stride + v * lanes;
    const bool in_part = kPart && v + 1 == kUsed;
    const auto load = [&](const float* from)
                          HWY_ATTR { return in_part ? hn::MaskedLoad(mask, d, from) : hn::LoadU(d, from); };
    if (p.adds) sum = hn::Add(sum, load(to));
    if (p.bias != nullptr) sum = hn::Add(sum, load(p.bias + v * lanes));
    if (in_part) return hn::BlendedStore(sum, mask, d, to);
    hn::StoreU(sum, d, to);
  });
}

template <size_t kUsed, bool kPart>
void rows(const PanelProduct& p) {
  size_t row = 0;
  for (; row + kRows <= p.rows; row += kRows) strip<kRows, kUsed, kPart>(p, row);
  switch (p.rows - row) {
    case 1: return strip<1, kUsed, kPart>(p, row);
    case 2: return strip<2, kUsed, kPart>(p, row);
    case 3: return strip<3, kUsed, kPart>(p, row);
    default: return;
  }
}

void multiply(const PanelProduct& p) {
  const size_t lanes = hn::Lanes(Tag());
  const bool in_part = p.columns % lanes != 0;
  switch ((p.columns + lanes - 1) / lanes) {
    case 1: return in_part ? rows<1, true>(p) : rows<1, false>(p);
    case 2: return in_part ? rows<2, true>(p) : rows<2, false>(p);
    default: return in_part ? rows<3, true>(p) : rows<3, false>(p);
  }
}

// [4, k] becomes [k, 4].
HWY_INLINE void transpose_square(const float* from, ptrdiff_t stride, float* to, size_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  for (ptrdiff_t j = 0; j < 4; ++j) {
    for (size_t k = 0; k < 4; ++k)
      to[k * to_stride + static_cast<size_t>(j)] = from[j * stride + static_cast<ptrdiff_t>(k)];
  }
#else
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> pairs;
  const auto row0 = hn::LoadU(d, from), row1 = hn::LoadU(d, from + stride);
  const auto row2 = hn::LoadU(d, from + 2 * stride), row3 = hn::LoadU(d, from + 3 * stride);
  const auto put = [&](size_t k, auto low, auto high) HWY_ATTR {
    const auto a = hn::BitCast(pairs, low), b = hn::BitCast(pairs, high);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)), d, to + k * to_stride);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, a, b)), d, to + (k + 1) * to_stride);
  };
  put(0, hn::InterleaveLower(d, row0, row1), hn::InterleaveLower(d, row2, row3));
  put(2, hn::InterleaveUpper(d, row0, row1), hn::InterleaveUpper(d, row2, row3));
#endif
}

void transpose_tile(const float* from, ptrdiff_t stride, size_t columns, size_t depth, float* panel) {
  constexpr size_t kSide = 4;
  constexpr size_t kLine = 16;  // elements per cache line: columns may be a power of two apart
  const size_t width = kVectors * hn::Lanes(Tag());
  const auto column = [&](size_t j) { return from + static_cast<ptrdiff_t>(j) * stride; };
  for (size_t first = 0; first < depth; first += kLine) {
    const size_t last = HWY_MIN(first + kLine, depth);
    size_t j = 0;
    for (; j + kSide <= columns; j += kSide) {
      size_t k = first;
      for (; k + kSide <= last; k += kSide) transpose_square(column(j) + k, stride, panel + k * width + j, width);
      for (; k < last; ++k) {
        for (size_t i = j; i < j + kSide; ++i) panel[k * width + i] = column(i)[k];
      }
    }
    for (; j < columns; ++j) {
      for (size_t k = first; k < last; ++k) panel[k * width + j] = column(j)[k];
    }
  }
}

PanelKernels kernels() { return {kVectors * hn::Lanes(Tag()), &transpose_tile, &multiply}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(kernels);
}  // namespace

PanelKernels panel_kernels() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernels)();
}

}  // namespace softnpu
#endif
