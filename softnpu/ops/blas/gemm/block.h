#pragma once
// The inner kernel of a product in any compute type: one tile of the result from two packed panels.

#include <cstddef>
#include <cstdint>

#include "ops/core/dtype.h"

namespace softnpu {

constexpr size_t kGemmRows = 32;
constexpr size_t kGemmColumns = 64;
constexpr size_t kGemmDepth = 64;

// acc[i][j] += sum of a[k][i] * b[k][j] over k < depth, in the order of k. a: [depth][kGemmRows], b:
// [depth][kGemmColumns], acc: [kGemmRows][kGemmColumns]. Rows and columns beyond `rows` and `columns` may be written,
// with values from the panels.
using GemmBlock = void (*)(const void* a, const void* b, void* acc, size_t depth, size_t rows, size_t columns);

GemmBlock gemm_block(ComputeType compute_type);

}  // namespace softnpu
