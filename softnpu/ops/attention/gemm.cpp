#include "ops/attention/gemm.h"

#include "ops/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention/gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Up to 16 lanes: two vectors are at most kGemmColumns.
using Tag = hn::CappedTag<float, kGemmColumns / 2>;

// kRows rows of c, two vectors at a time: the sums stay in registers.
template <size_t kRows>
HWY_INLINE void rows(size_t n, size_t k, const float* a, size_t a_row, size_t a_column, const float* b, size_t ldb,
                     float* c, size_t ldc, bool accumulate) {
  const Tag tag;
  const size_t lanes = hn::Lanes(tag);
  for (size_t j = 0; j < n; j += 2 * lanes) {
    auto c00 = hn::Zero(tag), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00, c30 = c00, c31 = c00;
    if (accumulate) {
      c00 = hn::LoadU(tag, c + j), c01 = hn::LoadU(tag, c + j + lanes);
      if constexpr (kRows > 1) c10 = hn::LoadU(tag, c + ldc + j), c11 = hn::LoadU(tag, c + ldc + j + lanes);
      if constexpr (kRows > 2) c20 = hn::LoadU(tag, c + 2 * ldc + j), c21 = hn::LoadU(tag, c + 2 * ldc + j + lanes);
      if constexpr (kRows > 3) c30 = hn::LoadU(tag, c + 3 * ldc + j), c31 = hn::LoadU(tag, c + 3 * ldc + j + lanes);
    }
    for (size_t p = 0; p < k; ++p) {
      const auto b0 = hn::LoadU(tag, b + p * ldb + j);
      const auto b1 = hn::LoadU(tag, b + p * ldb + j + lanes);
      const float* at = a + p * a_column;
      const auto a0 = hn::Set(tag, at[0]);
      c00 = hn::MulAdd(a0, b0, c00), c01 = hn::MulAdd(a0, b1, c01);
      if constexpr (kRows > 1) {
        const auto a1 = hn::Set(tag, at[a_row]);
        c10 = hn::MulAdd(a1, b0, c10), c11 = hn::MulAdd(a1, b1, c11);
      }
      if constexpr (kRows > 2) {
        const auto a2 = hn::Set(tag, at[2 * a_row]);
        c20 = hn::MulAdd(a2, b0, c20), c21 = hn::MulAdd(a2, b1, c21);
      }
      if constexpr (kRows > 3) {
        const auto a3 = hn::Set(tag, at[3 * a_row]);
        c30 = hn::MulAdd(a3, b0, c30), c31 = hn::MulAdd(a3, b1, c31);
      }
    }
    hn::StoreU(c00, tag, c + j), hn::StoreU(c01, tag, c + j + lanes);
    if constexpr (kRows > 1) hn::StoreU(c10, tag, c + ldc + j), hn::StoreU(c11, tag, c + ldc + j + lanes);
    if constexpr (kRows > 2) hn::StoreU(c20, tag, c + 2 * ldc + j), hn::StoreU(c21, tag, c + 2 * ldc + j + lanes);
    if constexpr (kRows > 3) hn::StoreU(c30, tag, c + 3 * ldc + j), hn::StoreU(c31, tag, c + 3 * ldc + j + lanes);
  }
}

void gemm(size_t m, size_t n, size_t k, const float* a, size_t a_row, size_t a_column, const float* b, size_t ldb,
          float* c, size_t ldc, bool accumulate) {
  size_t i = 0;
  for (; i + 4 <= m; i += 4) rows<4>(n, k, a + i * a_row, a_row, a_column, b, ldb, c + i * ldc, ldc, accumulate);
  for (; i < m; ++i) rows<1>(n, k, a + i * a_row, a_row, a_column, b, ldb, c + i * ldc, ldc, accumulate);
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
