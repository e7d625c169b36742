#include "ops/math/reduce/kernel.h"

namespace softnpu {

ReduceKernel reduce_kernel(ReduceOp op, ComputeType compute_type) {
  ReduceKernel kernel = sum_kernel(op, compute_type);
  if (kernel.rows == nullptr) kernel = extreme_kernel(op, compute_type);
  if (kernel.rows == nullptr) kernel = moment_kernel(op, compute_type);
  return kernel;
}

}  // namespace softnpu
