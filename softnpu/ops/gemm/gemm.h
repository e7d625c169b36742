#pragma once
// Products of matrices in any compute type, of operands that lie anywhere or are made up on the way (convolutions).

#include <cstdint>

#include "ops/dtype.h"

namespace softnpu {

// One side of a product: values by their place in the sum, k, and along the side, j.
class GemmSource {
 public:
  virtual ~GemmSource() = default;
  // Writes the values [k, k + depth) x [j, j + count) of product `batch` to to[k][j] in the compute type; a k begins
  // `pitch` values after the one before.
  virtual void pack(int64_t batch, int64_t k, int64_t depth, int64_t j, int64_t count, void* to,
                    int64_t pitch) const = 0;
};

class GemmSink {
 public:
  virtual ~GemmSink() = default;
  // Takes `count` sums of row i from column j on; they may be changed.
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

// sums[i][j] = sum over k of a[k][i] * b[k][j], for each product of the batch. Each sum is added up in the order of k
// by one thread: the result does not depend on their number.
void gemm(ComputeType compute_type, const GemmSizes& sizes, const GemmSource& a, const GemmSource& b,
          const GemmSink& sink, int threads);

}  // namespace softnpu
