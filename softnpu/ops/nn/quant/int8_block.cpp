#include "ops/nn/quant/int8_block.h"

#include <cstring>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/quant/int8_block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // has no vectors of two int16
void multiply(const Int8Block& block, int32_t* sums) {
  for (size_t m = 0; m < block.row_count; ++m) {
    for (size_t n = 0; n < block.column_count; ++n) {
      uint32_t sum = 0;
      for (size_t k = 0; k < block.depth; ++k) {
        sum += static_cast<uint32_t>(block.rows[m][k] * block.columns[n][k]);
      }
      sums[m * kInt8Columns + n] = static_cast<int32_t>(sum);
    }
  }
}
#else
using Sums = hn::ScalableTag<int32_t>;
using Words = hn::Repartition<int16_t, Sums>;
using Bytes = hn::Rebind<int8_t, Words>;
using S = hn::Vec<Sums>;
using W = hn::Vec<Words>;

// `count` elements, the rest zeros; all of a vector's if kIsWhole.
template <bool kIsWhole>
HWY_INLINE W words(const int8_t* from, size_t count) {
  if constexpr (kIsWhole) return hn::PromoteTo(Words(), hn::LoadU(Bytes(), from));
  int8_t rest[HWY_MAX_BYTES] = {};
  std::memcpy(rest, from, count);
  return hn::PromoteTo(Words(), hn::LoadU(Bytes(), rest));
}

// Adds the products of a vector's elements from `k` on.
template <bool kIsWhole, size_t kRows, size_t kColumns>
HWY_INLINE void add(const Int8Block& block, size_t first, size_t k, S (&low)[kRows][kColumns],
                    S (&high)[kRows][kColumns]) {
  W x[kRows];
  for (size_t m = 0; m < kRows; ++m) x[m] = words<kIsWhole>(block.rows[m] + k, block.depth - k);
  for (size_t n = 0; n < kColumns; ++n) {
    const W w = words<kIsWhole>(block.columns[first + n] + k, block.depth - k);
    for (size_t m = 0; m < kRows; ++m) {
      low[m][n] = hn::ReorderWidenMulAccumulate(Sums(), x[m], w, low[m][n], high[m][n]);
    }
  }
}

// kRows rows times kColumns columns from `first` on. Pairs of products go to one of two registers each: which, nobody
// knows, and their sum is the result.
template <size_t kRows, size_t kColumns>
HWY_INLINE void dots(const Int8Block& block, size_t first, int32_t* HWY_RESTRICT sums) {
  const Sums d;
  const size_t lanes = hn::Lanes(Words());
  S low[kRows][kColumns];
  S high[kRows][kColumns];
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t n = 0; n < kColumns; ++n) low[m][n] = high[m][n] = hn::Zero(d);
  }
  size_t k = 0;
  for (; k + lanes <= block.depth; k += lanes) add<true>(block, first, k, low, high);
  if (k < block.depth) add<false>(block, first, k, low, high);
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t n = 0; n < kColumns; ++n) {
      sums[m * kInt8Columns + first + n] = hn::GetLane(hn::SumOfLanes(d, hn::Add(low[m][n], high[m][n])));
    }
  }
}

// As many columns at a time as leave registers for the sums of all rows.
template <size_t kRows, size_t kColumns>
HWY_INLINE void rows(const Int8Block& block, int32_t* HWY_RESTRICT sums) {
  size_t n = 0;
  for (; n + kColumns <= block.column_count; n += kColumns) dots<kRows, kColumns>(block, n, sums);
  for (; n < block.column_count; ++n) dots<kRows, 1>(block, n, sums);
}

void multiply(const Int8Block& block, int32_t* sums) {
  switch (block.row_count) {
    case 1: return rows<1, 4>(block, sums);
    case 2: return rows<2, 2>(block, sums);
    case 3: return rows<3, 2>(block, sums);
    default: return rows<4, 2>(block, sums);
  }
}

#endif

MultiplyInt8 kernel() { return &multiply; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(kernel);
}  // namespace

MultiplyInt8 multiply_int8() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel)();
}

}  // namespace softnpu
#endif
