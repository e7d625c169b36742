#include "ops/blas/gemm/gemm.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "ops/blas/gemm/block.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr auto kRows = static_cast<int64_t>(kGemmRows);
constexpr auto kColumns = static_cast<int64_t>(kGemmColumns);
constexpr auto kDepth = static_cast<int64_t>(kGemmDepth);

// One tile of the result. On the stack: 64 KiB for double, twice that for complex numbers of it.
template <typename T>
void tile(GemmBlock block, const GemmSizes& sizes, const GemmSource& a, const GemmSource& b, const GemmSink& sink,
          int64_t batch, int64_t i, int64_t j) {
  alignas(64) T left[kGemmDepth * kGemmRows];
  alignas(64) T right[kGemmDepth * kGemmColumns];
  alignas(64) T sums[kGemmRows * kGemmColumns];
  const int64_t rows = std::min(kRows, sizes.rows - i);
  const int64_t columns = std::min(kColumns, sizes.columns - j);
  // Values beyond the edge take part in the arithmetic, so they must be initialised; their sums are ignored.
  if (rows < kRows) std::fill(std::begin(left), std::end(left), T(0));
  if (columns < kColumns) std::fill(std::begin(right), std::end(right), T(0));
  std::fill(std::begin(sums), std::end(sums), T(0));
  for (int64_t k = 0; k < sizes.depth; k += kDepth) {
    const int64_t depth = std::min(kDepth, sizes.depth - k);
    a.pack(batch, k, depth, i, rows, left, kRows);
    b.pack(batch, k, depth, j, columns, right, kColumns);
    block(left, right, sums, static_cast<size_t>(depth), static_cast<size_t>(rows), static_cast<size_t>(columns));
  }
  for (int64_t row = 0; row < rows; ++row) sink.store(batch, i + row, j, columns, sums + row * kColumns);
}

}  // namespace

void gemm(ComputeType compute_type, const GemmSizes& sizes, const GemmSource& a, const GemmSource& b,
          const GemmSink& sink, int threads) {
  const GemmBlock block = gemm_block(compute_type);
  const int64_t down = (sizes.rows + kRows - 1) / kRows;
  const int64_t across = (sizes.columns + kColumns - 1) / kColumns;
  with_compute_type(compute_type, [&]<typename T>() {
    parallel_for(sizes.batch * down * across, 1, threads, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; ++at) {
        const int64_t batch = at / (down * across);
        const int64_t location = at - batch * down * across;
        tile<T>(block, sizes, a, b, sink, batch, location / across * kRows, location % across * kColumns);
      }
    });
  });
}

}  // namespace softnpu
