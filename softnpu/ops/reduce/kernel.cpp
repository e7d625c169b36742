#include "ops/reduce/kernel.h"

namespace softnpu {

ReduceKernel reduce_kernel(ReduceOp op, Wide wide) {
  ReduceKernel kernel = sum_kernel(op, wide);
  if (kernel.rows == nullptr) kernel = extreme_kernel(op, wide);
  if (kernel.rows == nullptr) kernel = moment_kernel(op, wide);
  return kernel;
}

}  // namespace softnpu
