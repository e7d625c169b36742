#include "ops/nn/quant/weight_block.h"

#include <cstring>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/quant/weight_block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

HWY_INLINE V to_float(const int8_t* from) {
  const Tag d;
  const hn::RebindToSigned<Tag> integers;
  const hn::Rebind<int8_t, Tag> bytes;
  return hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, from)));
}

// kRows rows times kColumns columns from `first` on, each sum in its own register.
template <size_t kRows, size_t kColumns>
HWY_INLINE void dots(const WeightBlock& block, size_t first, float* HWY_RESTRICT sums) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  V sum[kRows][kColumns];
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t n = 0; n < kColumns; ++n) sum[m][n] = hn::Zero(d);
  }
  const int8_t* weights[kColumns];
  for (size_t n = 0; n < kColumns; ++n) weights[n] = block.weights[first + n];
  for (size_t g = 0, k = 0; g < block.groups; ++g) {
    const size_t end = HWY_MIN(block.depth, k + block.group);
    V scale[kColumns];
    V offset[kColumns];
    for (size_t n = 0; n < kColumns; ++n) {
      const size_t at = (first + n) * block.groups + g;
      scale[n] = hn::Set(d, block.scales[at]);
      offset[n] = block.offsets == nullptr ? hn::Zero(d) : hn::Set(d, block.offsets[at]);
    }
    for (; k + lanes <= end; k += lanes) {
      V x[kRows];
      for (size_t m = 0; m < kRows; ++m) x[m] = hn::LoadU(d, block.x + m * block.depth + k);
      for (size_t n = 0; n < kColumns; ++n) {
        const V w = hn::Mul(hn::Add(to_float(weights[n] + k), offset[n]), scale[n]);
        for (size_t m = 0; m < kRows; ++m) sum[m][n] = hn::MulAdd(x[m], w, sum[m][n]);
      }
    }
    if (k == end) continue;
    const auto mask = hn::FirstN(d, end - k);
    V x[kRows];
    for (size_t m = 0; m < kRows; ++m) x[m] = hn::MaskedLoad(mask, d, block.x + m * block.depth + k);
    for (size_t n = 0; n < kColumns; ++n) {
      int8_t rest[HWY_MAX_BYTES] = {};
      std::memcpy(rest, weights[n] + k, end - k);
      const V w = hn::IfThenElseZero(mask, hn::Mul(hn::Add(to_float(rest), offset[n]), scale[n]));
      for (size_t m = 0; m < kRows; ++m) sum[m][n] = hn::MulAdd(x[m], w, sum[m][n]);
    }
    k = end;
  }
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t n = 0; n < kColumns; ++n) {
      sums[m * kWeightColumns + first + n] = hn::GetLane(hn::SumOfLanes(d, sum[m][n]));
    }
  }
}

// As many columns at a time as leave registers for the sums of all rows.
template <size_t kRows, size_t kColumns>
HWY_INLINE void rows(const WeightBlock& block, float* HWY_RESTRICT sums) {
  size_t n = 0;
  for (; n + kColumns <= block.columns; n += kColumns) dots<kRows, kColumns>(block, n, sums);
  for (; n < block.columns; ++n) dots<kRows, 1>(block, n, sums);
}

void multiply(const WeightBlock& block, float* sums) {
  switch (block.rows) {
    case 1: return rows<1, 4>(block, sums);
    case 2: return rows<2, 4>(block, sums);
    case 3: return rows<3, 2>(block, sums);
    default: return rows<4, 2>(block, sums);
  }
}

MultiplyWeights kernel() { return &multiply; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(kernel);
}  // namespace

MultiplyWeights multiply_weights() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel)();
}

}  // namespace softnpu
#endif
