#include "ops/matmul/panel_kernels.h"

#include "ops/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/matmul/panel_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// 4 lines by 3 vectors of sums, 3 vectors of the panel and one of the lines fill 16 registers.
constexpr size_t kLines = 4;
constexpr size_t kVectors = 3;

using Tag = hn::CappedTag<float, 8>;
using V = hn::Vec<Tag>;

// The sums of kHigh lines from `line` on, in `put(line, vector, sum)`.
template <size_t kHigh, size_t kWide, typename Put>
HWY_INLINE void sums(const PanelProduct& p, size_t line, Put&& put) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  V sum[kHigh][kWide];
  for (size_t m = 0; m < kHigh; ++m) {
    for (size_t v = 0; v < kWide; ++v) sum[m][v] = hn::Zero(d);
  }
  const float* a = p.a + static_cast<ptrdiff_t>(line) * p.a_line;
  const float* panel = p.panel;
  for (size_t k = 0; k < p.depth; ++k, ++a, panel += kVectors * lanes) {
    V right[kWide];
    for (size_t v = 0; v < kWide; ++v) right[v] = hn::LoadU(d, panel + v * lanes);
    for (size_t m = 0; m < kHigh; ++m) {
      const V left = hn::Set(d, a[static_cast<ptrdiff_t>(m) * p.a_line]);
      for (size_t v = 0; v < kWide; ++v) sum[m][v] = hn::MulAdd(left, right[v], sum[m][v]);
    }
  }
  for (size_t m = 0; m < kHigh; ++m) {
    for (size_t v = 0; v < kWide; ++v) put(m, v, sum[m][v]);
  }
}

// kHigh lines with all columns of the panel. Of the last of kWide vectors kPart says whether it is one in part.
template <size_t kHigh, size_t kWide, bool kPart>
HWY_INLINE void strip(const PanelProduct& p, size_t line) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  const auto mask = hn::FirstN(d, p.columns - (kWide - 1) * lanes);
  float* c = p.c + static_cast<ptrdiff_t>(line) * p.c_line;
  sums<kHigh, kWide>(p, line, [&](size_t m, size_t v, V sum) HWY_ATTR {
    float* to = c + static_cast<ptrdiff_t>(m) * p.c_line + v * lanes;
    const bool in_part = kPart && v + 1 == kWide;
    const auto load = [&](const float* from)
                          HWY_ATTR { return in_part ? hn::MaskedLoad(mask, d, from) : hn::LoadU(d, from); };
    if (p.adds) sum = hn::Add(sum, load(to));
    if (p.row != nullptr) sum = hn::Add(sum, load(p.row + v * lanes));
    if (in_part) return hn::BlendedStore(sum, mask, d, to);
    hn::StoreU(sum, d, to);
  });
}

template <size_t kWide, bool kPart>
void lines(const PanelProduct& p) {
  size_t line = 0;
  for (; line + kLines <= p.lines; line += kLines) strip<kLines, kWide, kPart>(p, line);
  switch (p.lines - line) {
    case 1: return strip<1, kWide, kPart>(p, line);
    case 2: return strip<2, kWide, kPart>(p, line);
    case 3: return strip<3, kWide, kPart>(p, line);
    default: return;
  }
}

void multiply(const PanelProduct& p) {
  const size_t lanes = hn::Lanes(Tag());
  const bool in_part = p.columns % lanes != 0;
  switch ((p.columns + lanes - 1) / lanes) {
    case 1: return in_part ? lines<1, true>(p) : lines<1, false>(p);
    case 2: return in_part ? lines<2, true>(p) : lines<2, false>(p);
    default: return in_part ? lines<3, true>(p) : lines<3, false>(p);
  }
}

// [4, depth] becomes [depth, 4].
HWY_INLINE void turn_square(const float* from, ptrdiff_t stride, float* to, size_t to_stride) {
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

void turn(const float* from, ptrdiff_t stride, size_t columns, size_t depth, float* panel) {
  constexpr size_t kSide = 4;
  constexpr size_t kLine = 16;  // elements of a line of the cache: columns may lie a power of two apart
  const size_t width = kVectors * hn::Lanes(Tag());
  const auto column = [&](size_t j) { return from + static_cast<ptrdiff_t>(j) * stride; };
  for (size_t first = 0; first < depth; first += kLine) {
    const size_t last = HWY_MIN(first + kLine, depth);
    size_t j = 0;
    for (; j + kSide <= columns; j += kSide) {
      size_t k = first;
      for (; k + kSide <= last; k += kSide) turn_square(column(j) + k, stride, panel + k * width + j, width);
      for (; k < last; ++k) {
        for (size_t i = j; i < j + kSide; ++i) panel[k * width + i] = column(i)[k];
      }
    }
    for (; j < columns; ++j) {
      for (size_t k = first; k < last; ++k) panel[k * width + j] = column(j)[k];
    }
  }
}

PanelKernels kernels() { return {kVectors * hn::Lanes(Tag()), &turn, &multiply}; }

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
