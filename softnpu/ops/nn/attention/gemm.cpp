#include "ops/nn/attention/gemm.h"

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/attention/gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Up to 16 lanes: two vectors are at most kScoreColumns.
using Tag = hn::CappedTag<float, kScoreColumns / 2>;

// kRows rows of c, two vectors at a time, with the sums in registers.
template <size_t kRows>
HWY_INLINE void rows(size_t n, size_t k, const float* a, size_t a_row, size_t a_column, const float* b, size_t ldb,
                     float* c, size_t ldc, bool accumulate) {
  using V = hn::Vec<Tag>;
  const Tag tag;
  const size_t lanes = hn::Lanes(tag);
  for (size_t j = 0; j < n; j += 2 * lanes) {
    V sum[kRows][2];
    for (size_t i = 0; i < kRows; ++i) {
      sum[i][0] = accumulate ? hn::LoadU(tag, c + i * ldc + j) : hn::Zero(tag);
      sum[i][1] = accumulate ? hn::LoadU(tag, c + i * ldc + j + lanes) : hn::Zero(tag);
    }
    for (size_t p = 0; p < k; ++p) {
      const V b0 = hn::LoadU(tag, b + p * ldb + j);
      const V b1 = hn::LoadU(tag, b + p * ldb + j + lanes);
      const float* at = a + p * a_column;
      for (size_t i = 0; i < kRows; ++i) {
        const V left = hn::Set(tag, at[i * a_row]);
        sum[i][0] = hn::MulAdd(left, b0, sum[i][0]);
        sum[i][1] = hn::MulAdd(left, b1, sum[i][1]);
      }
    }
    for (size_t i = 0; i < kRows; ++i) {
      hn::StoreU(sum[i][0], tag, c + i * ldc + j);
      hn::StoreU(sum[i][1], tag, c + i * ldc + j + lanes);
    }
  }
}

// The number of rows whose sums fit the registers of AVX2, or of AVX-512.
constexpr size_t kMaxRows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;

void gemm(size_t m, size_t n, size_t k, const float* a, size_t a_row, size_t a_column, const float* b, size_t ldb,
          float* c, size_t ldc, bool accumulate) {
  size_t i = 0;
  const auto go = [&]<size_t kRows>() {
    for (; i + kRows <= m; i += kRows)
      rows<kRows>(n, k, a + i * a_row, a_row, a_column, b, ldb, c + i * ldc, ldc, accumulate);
  };
  go.template operator()<kMaxRows>();
  go.template operator()<4>();
  go.template operator()<1>();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(gemm);
}  // namespace

void small_gemm(size_t m, size_t n, size_t k, const float* a, size_t a_row, size_t a_column, const float* b, size_t ldb,
                float* c, size_t ldc, bool accumulate) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(gemm)(m, n, k, a, a_row, a_column, b, ldb, c, ldc, accumulate);
}

}  // namespace softnpu
#endif
