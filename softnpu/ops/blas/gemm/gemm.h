#pragma once
// Matrix products in any compute type. Operands may be anywhere in memory or generated on the fly (convolutions).

#include <cstdint>

#include "ops/core/dtype.h"

namespace softnpu {

// A factor of a product: values by the index of the sum, k, and the index along the side, j.
class GemmSource {
 public:
  virtual ~GemmSource() = default;
  // Writes the values [k, k + depth) x [j, j + count) of product `batch` to to[k][j] in the compute type; consecutive k
  // are `pitch` values apart.
  virtual void pack(int64_t batch, int64_t k, int64_t depth, int64_t j, int64_t count, void* to,
                    int64_t pitch) const = 0;
};

class GemmSink {
 public:
  virtual ~GemmSink() = default;
  // Receives `count` sums of row i from column j on; may modify them.
  virtual void store(int64_t batch, int64_t i, int64_t j, int64_t count, void* sums) const = 0;
};

struct GemmSizes {
  int64_t batch = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;

  double flops() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(depth + 1);
  }
};

// sums[i][j] = sum over k of a[k][i] * b[k][j], for each product of the batch. One thread adds each sum in the order of
// k: the result does not depend on the number of threads.
void gemm(ComputeType compute_type, const GemmSizes& sizes, const GemmSource& a, const GemmSource& b,
          const GemmSink& sink, int threads);

}  // namespace softnpu
