#include "ops/blas/gemm/block.h"

#include <complex>
#include <type_traits>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/blas/gemm/block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// A register tile: kLines lines of the result, two AVX-512 vectors wide. The compiler vectorises the fixed-length loops
// over it.
constexpr size_t kLines = 4;
template <typename T>
constexpr size_t kAcross = 128 / sizeof(T);

template <typename T>
void real_block(const void* a, const void* b, void* acc, size_t depth, size_t rows, size_t columns) {
  constexpr size_t kN = kAcross<T>;
  for (size_t i = 0; i < rows; i += kLines) {
    for (size_t j = 0; j < columns; j += kN) {
      T* to = static_cast<T*>(acc) + i * kGemmColumns + j;
      T sum[kLines][kN];
      for (size_t x = 0; x < kLines; ++x) {
        for (size_t y = 0; y < kN; ++y) sum[x][y] = to[x * kGemmColumns + y];
      }
      const T* left = static_cast<const T*>(a) + i;
      const T* right = static_cast<const T*>(b) + j;
      for (size_t k = 0; k < depth; ++k, left += kGemmRows, right += kGemmColumns) {
        for (size_t x = 0; x < kLines; ++x) {
          const T scale = left[x];
          for (size_t y = 0; y < kN; ++y) sum[x][y] += scale * right[y];
        }
      }
      for (size_t x = 0; x < kLines; ++x) {
        for (size_t y = 0; y < kN; ++y) to[x * kGemmColumns + y] = sum[x][y];
      }
    }
  }
}

// Sums real and imaginary parts separately, from a copy of the panel that stores them separately.
template <typename T>
void complex_block(const void* a, const void* b, void* acc, size_t depth, size_t rows, size_t columns) {
  constexpr size_t kN = kAcross<T> / 2;
  HWY_ALIGN T apart[kGemmDepth * 2 * kGemmColumns];
  const T* both = static_cast<const T*>(b);
  for (size_t k = 0; k < depth; ++k) {
    T* real = apart + k * 2 * kGemmColumns;
    for (size_t j = 0; j < kGemmColumns; ++j) {
      real[j] = both[(k * kGemmColumns + j) * 2];
      real[kGemmColumns + j] = both[(k * kGemmColumns + j) * 2 + 1];
    }
  }
  for (size_t i = 0; i < rows; i += kLines) {
    for (size_t j = 0; j < columns; j += kN) {
      T* to = static_cast<T*>(acc) + (i * kGemmColumns + j) * 2;
      T real[kLines][kN] = {};
      T imag[kLines][kN] = {};
      const T* left = static_cast<const T*>(a) + i * 2;
      const T* right = apart + j;
      for (size_t k = 0; k < depth; ++k, left += 2 * kGemmRows, right += 2 * kGemmColumns) {
        for (size_t x = 0; x < kLines; ++x) {
          const T re = left[2 * x];
          const T im = left[2 * x + 1];
          for (size_t y = 0; y < kN; ++y) {
            real[x][y] += re * right[y] - im * right[kGemmColumns + y];
            imag[x][y] += re * right[kGemmColumns + y] + im * right[y];
          }
        }
      }
      for (size_t x = 0; x < kLines; ++x) {
        for (size_t y = 0; y < kN; ++y) {
          to[(x * kGemmColumns + y) * 2] += real[x][y];
          to[(x * kGemmColumns + y) * 2 + 1] += imag[x][y];
        }
      }
    }
  }
}

GemmBlock gemm_block_for(ComputeType widened) {
  return with_compute_type(widened, []<typename T>() -> GemmBlock {
    if constexpr (std::is_arithmetic_v<T>) {
      return &real_block<T>;
    } else {
      return &complex_block<typename T::value_type>;
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(gemm_block_for);
}  // namespace

GemmBlock gemm_block(ComputeType widened) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(gemm_block_for)(widened);
}

}  // namespace softnpu
#endif
