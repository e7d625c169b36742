#pragma once
// Products with int8 or int4 weights whose columns are contiguous in memory: the weights are read in place, not packed.

#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/blas/gemm/gemm.h"
#include "ops/core/convert/element_rows.h"

namespace softnpu {

// Scales or offsets, [groups, columns]. A step in bytes is 0 where one number serves all.
struct WeightParameters {
  const char* data = nullptr;  // null: none
  ptrdiff_t group_step = 0;
  ptrdiff_t column_step = 0;
  ElementReader reader;  // to float32

  // Writes those of columns [column, column + count) as [groups, kWeightColumns].
  void read(int64_t column, int64_t count, size_t groups, float* to) const;
};

struct ContiguousWeights {
  const char* data = nullptr;
  int64_t column_stride = 0;  // in elements
  bool is_int4 = false;       // two elements a byte, the lower half first
  int64_t group = 1;          // elements of a column that share a scale
  WeightParameters scale, offset;
};

// Signed 4-bit elements from `element` on, one a byte.
void unpack_int4(const char* data, int64_t element, std::span<int8_t> to);

// Gives the sums of x (weight + offset) scale to `sink`, from row `first_row` of product `batch` on. `first` is the
// element of the weights where column 0 begins. x: `sizes.rows` rows of `sizes.depth` floats.
void weight_dots(const ContiguousWeights& weights, int64_t first, const float* x, const GemmSizes& sizes, int64_t batch,
                 int64_t first_row, const GemmSink& sink, int threads);

}  // namespace softnpu
