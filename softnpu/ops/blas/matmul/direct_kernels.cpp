#include "ops/blas/matmul/direct_kernels.h"

#include <cstring>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/blas/matmul/direct_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

template <typename T>
HWY_INLINE V load(const T* from) {
  const Tag d;
  if constexpr (std::is_same_v<T, float>)
    return hn::LoadU(d, from);
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, Tag>(), from));
}

// The first `count` elements, less than a vector; zeros behind them.
template <typename T>
HWY_INLINE V load_first(const T* from, size_t count) {
  const Tag d;
  if constexpr (std::is_same_v<T, float>) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    alignas(HWY_MAX_BYTES) T rest[HWY_MAX_BYTES / sizeof(T)] = {};
    std::memcpy(rest, from, count * sizeof(T));
    return load(rest);
  }
}

// kRows rows of the first factor times kColumns columns of the second, each sum in its own register.
template <typename T, size_t kRows, size_t kColumns>
HWY_INLINE void dots(const DirectTile& t, size_t first, float* HWY_RESTRICT sums) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  V sum[kRows][kColumns];
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t n = 0; n < kColumns; ++n) sum[m][n] = hn::Zero(d);
  }
  const T* b = static_cast<const T*>(t.b) + static_cast<ptrdiff_t>(first) * t.b_stride;
  const auto add = [&](size_t k, auto&& read) HWY_ATTR {
    V left[kRows];
    for (size_t m = 0; m < kRows; ++m) left[m] = read(t.a + static_cast<ptrdiff_t>(m) * t.a_row_stride + k);
    for (size_t n = 0; n < kColumns; ++n) {
      const V right = read(b + static_cast<ptrdiff_t>(n) * t.b_stride + k);
      for (size_t m = 0; m < kRows; ++m) sum[m][n] = hn::MulAdd(left[m], right, sum[m][n]);
    }
  };
  size_t k = 0;
  for (; k + lanes <= t.k; k += lanes) add(k, [](const auto* from) HWY_ATTR { return load(from); });
  if (const size_t left = t.k - k; left > 0) {
    add(k, [left](const auto* from) HWY_ATTR { return load_first(from, left); });
  }
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t n = 0; n < kColumns; ++n) {
      sums[m * kDirectColumns + first + n] = hn::GetLane(hn::SumOfLanes(d, sum[m][n]));
    }
  }
}

// Vectors of a column, times rows: up to here the CPU computes several columns at once by itself and reads them in
// order. Its prefetcher follows one place in a page, not four.
constexpr size_t kShort = 128;

template <typename T, size_t kRows>
HWY_INLINE void rows_along_k(const DirectTile& t, float* HWY_RESTRICT sums) {
  size_t n = 0;
  const bool is_read_in_order = kRows * t.k * sizeof(T) <= kShort * sizeof(float) * hn::Lanes(Tag());
  for (; !is_read_in_order && n + 4 <= t.columns; n += 4) dots<T, kRows, 4>(t, n, sums);
  for (; n < t.columns; ++n) dots<T, kRows, 1>(t, n, sums);
}

template <typename T>
void along_k(const DirectTile& t, float* sums) {
  switch (t.rows) {
    case 1: return rows_along_k<T, 1>(t, sums);
    case 2: return rows_along_k<T, 2>(t, sums);
    case 3: return rows_along_k<T, 3>(t, sums);
    default: return rows_along_k<T, 4>(t, sums);
  }
}

// kRows rows times kVectors vectors of columns, from column `first` on; the last vector has `rest` columns.
template <size_t kRows, size_t kVectors>
HWY_INLINE void columns_at(const DirectTile& t, size_t first, size_t rest, float* HWY_RESTRICT sums) {
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  const auto mask = hn::FirstN(d, rest);
  V sum[kRows][kVectors];
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t v = 0; v < kVectors; ++v) sum[m][v] = hn::Zero(d);
  }
  const float* b = static_cast<const float*>(t.b) + first;
  const float* a = t.a;
  for (size_t k = 0; k < t.k; ++k, b += t.b_stride, a += t.a_k_stride) {
    V right[kVectors];
    for (size_t v = 0; v + 1 < kVectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
    right[kVectors - 1] =
        rest == lanes ? hn::LoadU(d, b + (kVectors - 1) * lanes) : hn::MaskedLoad(mask, d, b + (kVectors - 1) * lanes);
    for (size_t m = 0; m < kRows; ++m) {
      const V left = hn::Set(d, a[static_cast<ptrdiff_t>(m) * t.a_row_stride]);
      for (size_t v = 0; v < kVectors; ++v) sum[m][v] = hn::MulAdd(left, right[v], sum[m][v]);
    }
  }
  // Whole vectors fit: kDirectColumns is a multiple of every vector's lanes.
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[m][v], d, sums + m * kDirectColumns + first + v * lanes);
  }
}

template <size_t kRows>
HWY_INLINE void rows_along_columns(const DirectTile& t, float* HWY_RESTRICT sums) {
  const size_t lanes = hn::Lanes(Tag());
  size_t n = 0;
  for (; n + 2 * lanes <= t.columns; n += 2 * lanes) columns_at<kRows, 2>(t, n, lanes, sums);
  for (; n < t.columns; n += lanes) columns_at<kRows, 1>(t, n, HWY_MIN(lanes, t.columns - n), sums);
}

void along_columns(const DirectTile& t, float* sums) {
  switch (t.rows) {
    case 1: return rows_along_columns<1>(t, sums);
    case 2: return rows_along_columns<2>(t, sums);
    case 3: return rows_along_columns<3>(t, sums);
    default: return rows_along_columns<4>(t, sums);
  }
}

DirectKernels kernels(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT16: return {&along_k<hwy::float16_t>, nullptr};
    case ACL_BF16: return {&along_k<hwy::bfloat16_t>, nullptr};
    default: return {&along_k<float>, &along_columns};
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(kernels);
}  // namespace

DirectKernels direct_kernels(aclDataType dtype) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernels)(dtype);
}

}  // namespace softnpu
#endif
