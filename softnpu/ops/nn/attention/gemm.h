#pragma once
// Small products of float32 matrices that are in the cache.

#include <cstddef>

namespace softnpu {

// The number of columns is a multiple of this: columns beyond a matrix are padding that both sides have.
constexpr size_t kScoreColumns = 32;

// c[i][j] = (accumulate ? c[i][j] : 0) + sum over k of a[i * a_row + k * a_column] * b[k][j]. Rows of b and c are ldb
// and ldc floats apart; n is a multiple of kScoreColumns. The sum always runs from k = 0 upwards.
void small_gemm(size_t m, size_t n, size_t k, const float* a, size_t a_row, size_t a_column, const float* b, size_t ldb,
                float* c, size_t ldc, bool accumulate);

}  // namespace softnpu
