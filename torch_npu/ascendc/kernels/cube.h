#pragma once
// What the kernels of this folder share that multiply matrices: which vector core a block is, and matrices of rows.

#include "kernel_operator.h"
#include "lib/matmul_intf.h"

namespace kernels {

using namespace AscendC;

template <typename T>
using RowsInMemory = MatmulType<TPosition::GM, CubeFormat::ND, T>;
template <typename T>
using ColumnsInMemory = MatmulType<TPosition::GM, CubeFormat::ND, T, true>;
using SumsInLocalMemory = MatmulType<TPosition::VECIN, CubeFormat::ND, float>;

// Parts of the work that this vector core does: `index`, `index` + `count`, and so on.
struct VectorCore {
  uint32_t index;
  uint32_t count;
};
__aicore__ inline VectorCore ThisVectorCore() {
  return {static_cast<uint32_t>(GetBlockIdx()), static_cast<uint32_t>(GetBlockNum() * GetTaskRation())};
}

// The sizes of products of `rows` by `depth` and `depth` by `columns`, in tiles.
__aicore__ inline TCubeTiling CubeTiling(uint32_t rows, uint32_t columns, uint32_t depth, uint32_t tile_rows,
                                         uint32_t tile_columns) {
  TCubeTiling tiling;
  tiling.M = tiling.singleCoreM = static_cast<int32_t>(rows);
  tiling.N = tiling.singleCoreN = static_cast<int32_t>(columns);
  tiling.Ka = tiling.Kb = tiling.singleCoreK = static_cast<int32_t>(depth);
  tiling.baseM = static_cast<int32_t>(tile_rows);
  tiling.baseN = static_cast<int32_t>(tile_columns);
  return tiling;
}

// `rows` rows of `columns` elements, `stride` elements from one to the next in local memory.
template <typename T>
__aicore__ inline DataCopyExtParams RowsOut(uint32_t rows, uint32_t columns, uint32_t stride) {
  constexpr uint32_t kBlock = 32;
  const uint32_t bytes = columns * static_cast<uint32_t>(sizeof(T));
  const uint32_t gap = stride * static_cast<uint32_t>(sizeof(T)) / kBlock - (bytes + kBlock - 1) / kBlock;
  return DataCopyExtParams(static_cast<uint16_t>(rows), bytes, gap, 0, 0);
}

}  // namespace kernels
