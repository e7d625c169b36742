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

template <bool kHasOffsets>
HWY_INLINE V weight(const int8_t* from, V offset, V scale) {
  const Tag d;
  const hn::RebindToSigned<Tag> integers;
  const hn::Rebind<int8_t, Tag> bytes;
  const V value = hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, from)));
  if constexpr (kHasOffsets) return hn::Mul(hn::Add(value, offset), scale);
  return hn::Mul(value, scale);
}

// kRows rows times kColumns columns from `first` on, each sum in its own register.
template <bool kHasOffsets, size_t kRows, size_t kColumns>
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
      const size_t at = g * kWeightColumns + first + n;
      scale[n] = hn::Set(d, block.scales[at]);
      offset[n] = kHasOffsets ? hn::Set(d, block.offsets[at]) : hn::Zero(d);
    }
    for (; k + lanes <= end; k += lanes) {
      V x[kRows];
      for (size_t m = 0; m < kRows; ++m) x[m] = hn::LoadU(d, block.x + m * block.depth + k);
      for (size_t n = 0; n < kColumns; ++n) {
        const V w = weight<kHasOffsets>(weights[n] + k, offset[n], scale[n]);
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
      const V w = hn::IfThenElseZero(mask, weight<kHasOffsets>(rest, offset[n], scale[n]));
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
template <bool kHasOffsets, size_t kRows, size_t kColumns>
HWY_INLINE void rows(const WeightBlock& block, float* HWY_RESTRICT sums) {
  size_t n = 0;
  for (; n + kColumns <= block.columns; n += kColumns) dots<kHasOffsets, kRows, kColumns>(block, n, sums);
  for (; n < block.columns; ++n) dots<kHasOffsets, kRows, 1>(block, n, sums);
}

template <bool kHasOffsets>
HWY_INLINE void all_rows(const WeightBlock& block, float* HWY_RESTRICT sums) {
  switch (block.rows) {
    case 1: return rows<kHasOffsets, 1, 4>(block, sums);
    case 2: return rows<kHasOffsets, 2, 4>(block, sums);
    case 3: return rows<kHasOffsets, 3, 2>(block, sums);
    default: return rows<kHasOffsets, 4, 2>(block, sums);
  }
}

void multiply(const WeightBlock& block, float* sums) {
  if (block.offsets == nullptr) return all_rows<false>(block, sums);
  all_rows<true>(block, sums);
}

// kRows rows times kColumns columns of values from `first` on.
template <size_t kRows, size_t kColumns>
HWY_INLINE void value_dots(const WeightBlock& block, const float* values, size_t first, float* HWY_RESTRICT sums) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  V sum[kRows][kColumns];
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t n = 0; n < kColumns; ++n) sum[m][n] = hn::Zero(d);
  }
  const float* const columns = values + first * block.depth;
  for (size_t k = 0; k < block.depth; k += lanes) {
    const auto mask = hn::FirstN(d, block.depth - k);
    const bool is_whole = k + lanes <= block.depth;
    V x[kRows];
    for (size_t m = 0; m < kRows; ++m) {
      const float* const from = block.x + m * block.depth + k;
      x[m] = is_whole ? hn::LoadU(d, from) : hn::MaskedLoad(mask, d, from);
    }
    for (size_t n = 0; n < kColumns; ++n) {
      const float* const from = columns + n * block.depth + k;
      const V w = is_whole ? hn::LoadU(d, from) : hn::MaskedLoad(mask, d, from);
      for (size_t m = 0; m < kRows; ++m) sum[m][n] = hn::MulAdd(x[m], w, sum[m][n]);
    }
  }
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t n = 0; n < kColumns; ++n) {
      sums[m * kWeightColumns + first + n] = hn::GetLane(hn::SumOfLanes(d, sum[m][n]));
    }
  }
}

template <size_t kRows>
HWY_INLINE void value_rows(const WeightBlock& block, const float* values, float* HWY_RESTRICT sums) {
  constexpr size_t kColumns = HWY_TARGET <= HWY_AVX3 ? 4 : 2;  // 32 registers, or 16
  size_t n = 0;
  for (; n + kColumns <= block.columns; n += kColumns) value_dots<kRows, kColumns>(block, values, n, sums);
  for (; n < block.columns; ++n) value_dots<kRows, 1>(block, values, n, sums);
}

void multiply_spread(const WeightBlock& block, const float* values, float* sums) {
  switch (block.rows) {
    case 1: return value_rows<1>(block, values, sums);
    case 2: return value_rows<2>(block, values, sums);
    case 3: return value_rows<3>(block, values, sums);
    default: return value_rows<4>(block, values, sums);
  }
}

void spread(const WeightBlock& block, float* values) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  for (size_t n = 0; n < block.columns; ++n, values += block.depth) {
    const int8_t* const from = block.weights[n];
    for (size_t g = 0, k = 0; g < block.groups; ++g) {
      const size_t end = HWY_MIN(block.depth, k + block.group);
      const size_t at = g * kWeightColumns + n;
      const V scale = hn::Set(d, block.scales[at]);
      const V offset = block.offsets == nullptr ? hn::Zero(d) : hn::Set(d, block.offsets[at]);
      for (; k + lanes <= end; k += lanes) hn::StoreU(weight<true>(from + k, offset, scale), d, values + k);
      for (; k < end; ++k) {
        values[k] = (static_cast<float>(from[k]) + hn::GetLane(offset)) * hn::GetLane(scale);
      }
    }
  }
}

MultiplyWeights kernel() { return &multiply; }
MultiplyValues value_kernel() { return &multiply_spread; }
SpreadWeights spreader() { return &spread; }

void unpack(const uint8_t* from, size_t bytes, int8_t* to) {
  const hn::ScalableTag<uint8_t> d;
  const auto low = hn::Set(d, 15);
  const auto sign = hn::Set(d, 8);
  const auto halves = [&](auto v) HWY_ATTR { return hn::Sub(hn::Xor(hn::And(v, low), sign), sign); };
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= bytes; i += lanes) {
    const auto v = hn::LoadU(d, from + i);
    hn::StoreInterleaved2(halves(v), halves(hn::ShiftRight<4>(v)), d, reinterpret_cast<uint8_t*>(to) + 2 * i);
  }
  for (; i < bytes; ++i) {
    to[2 * i] = static_cast<int8_t>(((from[i] & 15) ^ 8) - 8);
    to[2 * i + 1] = static_cast<int8_t>(((from[i] >> 4) ^ 8) - 8);
  }
}

UnpackHalves unpacker() { return &unpack; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(kernel);
HWY_EXPORT(unpacker);
HWY_EXPORT(value_kernel);
HWY_EXPORT(spreader);
}  // namespace

MultiplyWeights multiply_weights() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel)();
}

MultiplyValues multiply_values() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(value_kernel)();
}

SpreadWeights spread_weights() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(spreader)();
}

UnpackHalves unpack_halves() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(unpacker)();
}

}  // namespace softnpu
#endif
