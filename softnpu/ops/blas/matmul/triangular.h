#pragma once

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

struct TriangularAttributes {
  bool upper;          // which triangle of a is read
  bool transpose;      // solves a^T x = b
  bool unitriangular;  // the diagonal counts as 1
};

// x of a x = b: a [.., n, n], b and x [.., n, k] in float32 or float64, computed in float64. Batch dimensions are
// broadcast to x's; `copy` becomes a. As torch.triangular_solve defines it.
Status triangular_solve(const TriangularAttributes& attributes, const aclTensor& b, const aclTensor& a,
                        const aclTensor& x, const aclTensor& copy, Plan* plan);

}  // namespace softnpu
